import "./style.css";

export const metadata = { title: "Your product" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
