// Actions that people search for by their own words, for the palette: exports, backups, prints and
// the like.

import type { Action } from "../lib/frame/palette/actions";
import { exportInteractions } from "./interactions/export";
import { exportSubmissions } from "../lib/submissions/export";
import { exportTags } from "./tags/export";

export const screenActions: Action[] = [
  {
    name: "Export tags as spreadsheet",
    words: "download save list excel xlsx table",
    needs: "export",
    screen: "tags",
    run: () => void exportTags({}, null, "xlsx"),
  },
  {
    name: "Export tags as CSV",
    words: "download save list excel spreadsheet table",
    needs: "export",
    screen: "tags",
    run: () => void exportTags({}, null, "csv"),
  },
  {
    name: "Export interactions as spreadsheet",
    words: "download save list excel xlsx csv table taps scans statistics",
    needs: "export",
    screen: "interactions",
    run: () => void exportInteractions({}, "xlsx"),
  },
  {
    name: "Export submissions as spreadsheet",
    words: "download save list excel xlsx csv table forms answers registrations contacts",
    needs: "export",
    screen: "submissions",
    run: () => void exportSubmissions({}, "xlsx"),
  },
  {
    name: "Import tags from a file",
    words: "upload load csv excel spreadsheet table list",
    needs: "tags",
    screen: "tags",
    query: { new: "import" },
    whole: true,
  },
  {
    name: "Make a backup",
    words: "back up backup save copy security archive database",
    needs: "admin",
    screen: "settings",
    selected: "backup",
  },
  { name: "Restore a backup", words: "recover load back move computer database", needs: "admin", screen: "settings", selected: "backup" },
  { name: "Print labels of a run", words: "sticker label printer qr codes", needs: "encode", screen: "encode" },
  { name: "Print a QR code of a tag", words: "label sticker printer code sign", needs: "read", screen: "tags" },
  { name: "Print a test sheet", words: "paper printer quality check", needs: "read", screen: "sheets" },
  { name: "Encode chips", words: "write program nfc inlays blank tags run", needs: "encode", screen: "encode" },
  { name: "Read a chip", words: "scan check identify nfc unknown what is this", needs: "read", screen: "reader" },
  {
    name: "Allow phones on this network",
    words: "wifi wlan lan mobile smartphone address url domain port public base",
    needs: "admin",
    screen: "settings",
    selected: "service",
  },
  {
    name: "Erase data of a person",
    words: "delete privacy gdpr forget remove visitor customer",
    needs: "admin",
    screen: "submissions",
  },
  {
    name: "Choose a light or dark theme",
    words: "night mode colour color contrast appearance display",
    needs: "read",
    screen: "settings",
    selected: "appearance",
  },
  {
    name: "Connect to another computer",
    words: "remote server service shop link login",
    needs: "read",
    screen: "settings",
    selected: "connections",
  },
];
