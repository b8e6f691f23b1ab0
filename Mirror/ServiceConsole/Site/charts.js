// Bars of the last hour, one a minute.

import { element } from "/console/elements.js";

const space = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
}

/** A chart of `values`, oldest first; `spell` writes one of them. */
export function hourChart(title, values, spell) {
    const highest = Math.max(...values, 0);
    const last = values[values.length - 1] ?? 0;
    const words = `${title}: ${spell(last)} in this minute, at most ${spell(highest)}`;
    const drawing = shape("svg", {
        viewBox: `0 0 ${values.length * 4} 50`, preserveAspectRatio: "none", role: "img",
        "aria-label": words,
    });
    values.forEach((value, index) => {
        const height = highest > 0 ? Math.max(value > 0 ? 1 : 0, value / highest * 48) : 0;
        drawing.append(shape("rect", {
            class: "bar", x: index * 4, y: 49 - height, width: 3, height,
        }));
    });
    drawing.append(shape("line", {
        class: "axis", x1: 0, x2: values.length * 4, y1: 49.5, y2: 49.5,
    }));
    return element("figure", { class: "panel" }, drawing, element("figcaption", {}, words));
}
