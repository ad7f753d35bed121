import "../app.css";
import { mount } from "svelte";
import Kiosk from "./Kiosk.svelte";

const target = document.getElementById("app");
if (!target) throw new Error("kiosk.html has an element #app");

export default mount(Kiosk, { target });
