//! SVG. The text is outlines, so that it looks the same without the fonts.

use std::fmt::Write as _;

use tiny_skia::{Path, PathSegment};

use crate::code::Bar;
use crate::design::{Label, Ready};
use crate::drawing::Drawing;
use crate::lettering::Lettering;

/// A label as SVG.
pub(crate) fn svg(
    ready: &Ready,
    lettering: &mut Lettering,
    label: &Label,
    drawing: &Drawing,
) -> String {
    let [w, h] = ready.label_mm;
    // A slug has no character with a meaning in XML.
    let title = &label.slug;
    let [red, green, blue] = ready.colour;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}mm\" height=\"{h}mm\" viewBox=\"0 0 {w} {h}\" \
         role=\"img\"><title>{title}</title><path fill=\"#fff\" d=\"M0 0h{w}v{h}H0z\"/>\
         <g fill=\"#{red:02x}{green:02x}{blue:02x}\">"
    );
    let [x, y] = drawing.face.code_at_mm;
    // Writing to a String does not fail.
    let _ = write!(
        svg,
        "<path shape-rendering=\"crispEdges\" transform=\"translate({x:.4} {y:.4}) scale({:.5})\" d=\"",
        drawing.face.module_mm
    );
    for Bar { x, y, width } in &drawing.code.bars {
        let _ = write!(svg, "M{x} {y}h{width}v1h-{width}z");
    }
    svg += "\"/>";
    if let Some(outline) = drawing.text_outline(lettering) {
        svg += "<path d=\"";
        write_path(&mut svg, &outline);
        svg += "\"/>";
    }
    svg += "</g>";
    if let (Some(area), Some(logo)) = (drawing.logo, &ready.logo) {
        let ([x, y], [width, height]) = (area.at_mm, area.size_mm);
        let _ = write!(
            svg,
            "<image x=\"{x:.4}\" y=\"{y:.4}\" width=\"{width:.4}\" height=\"{height:.4}\" \
             href=\"data:image/png;base64,{}\"/>",
            logo.png
        );
    }
    svg += "</svg>\n";
    svg
}

fn write_path(svg: &mut String, path: &Path) {
    for segment in path.segments() {
        let _ = match segment {
            PathSegment::MoveTo(p) => write!(svg, "M{:.3} {:.3}", p.x, p.y),
            PathSegment::LineTo(p) => write!(svg, "L{:.3} {:.3}", p.x, p.y),
            PathSegment::QuadTo(a, p) => {
                write!(svg, "Q{:.3} {:.3} {:.3} {:.3}", a.x, a.y, p.x, p.y)
            }
            PathSegment::CubicTo(a, b, p) => write!(
                svg,
                "C{:.3} {:.3} {:.3} {:.3} {:.3} {:.3}",
                a.x, a.y, b.x, b.y, p.x, p.y
            ),
            PathSegment::Close => write!(svg, "z"),
        };
    }
}
