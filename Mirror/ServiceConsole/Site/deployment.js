// A container's schema: its text, what is taken in, and what goes to production.

import {
    button, choice, confirmed, element, labelled, newestOnly, tell, trying,
} from "/console/elements.js";
import { administration } from "/console/administration.js";
import { fieldsOf } from "/console/fields.js";

/** What the service takes. */
const bytesMax = 8 * 1024 * 1024;

const marks = { "+": "added", "-": "lacking", "!": "another type" };

/** Lines of a difference. The mark is told in words, too. */
function changeList(changes, emptyText) {
    if (changes.length === 0) return element("p", { class: "soft" }, emptyText);
    return element("ol", { class: "changes" }, changes.map((line) =>
        element("li", { class: line.startsWith("!") ? "bad" : undefined },
            element("span", { class: "unseen" }, `${marks[line[0]] ?? ""}: `),
            element("code", {}, line))));
}

function changesText(changes) {
    return changes.length === 1 ? "1 change" : `${changes.length || "no"} changes`;
}

/** A text of a schema, compared and taken into development. */
function importForm(container, outcome, changed) {
    const ask = newestOnly();
    // What was told, or is still to be told, was told of another text.
    const forget = () => {
        ask();
        outcome.replaceChildren();
    };
    const text = element("textarea", {
        name: "text", required: true, rows: "8", spellcheck: "false", class: "mono wide",
        placeholder: "DEFINE SCHEMA …",
        oninput: forget,
    });
    const file = element("input", {
        type: "file", accept: ".ckdb,text/plain", onchange: () => trying(async () => {
            if (file.files.length === 0) return;
            if (file.files[0].size > bytesMax) throw new Error("No schema has more than 8 MiB.");
            text.value = await file.files[0].text();
            forget();
        }),
    });
    const other = choice("other", ["production", "development"]);
    const takeIn = (shownText, changes) => trying(async () => {
        const question = `Take ${changesText(changes)} into development of ${container}?`;
        if (!await confirmed(question, "Take in")) return;
        const made = await administration.importSchema(container, shownText, changes);
        form.reset();
        await changed();
        tell(`Development of ${container} has ${changesText(made.changes)} by it.`);
    });
    const preview = () => trying(async () => {
        const shownText = text.value;
        const isNewest = ask();
        const { changes } = await administration.previewImport(container, shownText);
        if (!isNewest()) return;
        outcome.replaceChildren(element("h4", {}, "What would change in development"),
            changeList(changes, "Development has all of it already."));
        if (changes.length === 0) return;
        outcome.append(element("div", { class: "actions" },
            button("Take into development", () => takeIn(shownText, changes), "main")));
    });
    const compare = () => trying(async () => {
        if (!text.reportValidity()) return;
        const isNewest = ask();
        const beside = other.value;
        const { changes } = await administration.compareSchema(container, beside, text.value);
        if (!isNewest()) return;
        outcome.replaceChildren(element("h4", {}, `What the text has and lacks beside ${beside}`),
            changeList(changes, "They say the same."));
    });
    const form = element("form", { class: "panel", "aria-label": "Take in a schema" },
        labelled("Text of a .ckdb file", text), labelled("Or the file", file),
        element("button", { class: "main" }, "Preview"),
        labelled("Compare with", other), button("Compare", compare));
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        preview();
    });
    return [element("h3", {}, "Take in"), form, outcome];
}

/** What production would get, and the deed itself: of that, and of nothing else. */
function deployment(container, outcome, changed) {
    const deploy = (changes) => trying(async () => {
        // Where nothing is new, it may still be the first time.
        const question = `Add ${changesText(changes)} to production of ${container}? `
            + "Nothing of it is taken away again, and production takes only records that fit.";
        if (!await confirmed(question, "Deploy")) return;
        const made = await administration.deploy(container, changes);
        await changed();
        tell(`Production of ${container} has ${changesText(made.changes)} more.`);
    });
    const look = () => trying(async () => {
        const { changes } = await administration.previewDeployment(container);
        outcome.replaceChildren(element("h4", {}, "What production would get"),
            changeList(changes, "Production has all of it already."),
            element("div", { class: "actions" },
                button("Deploy to production", () => deploy(changes), "bad")));
    });
    return [element("h3", {}, "Deploy"), element("p", { class: "soft" },
        "Adds to production what development has beyond it. Looking changes nothing."),
    element("div", { class: "actions" }, button("See what would be added", look)), outcome];
}

/**
 * Puts a container's schema into `body`, if `isNewest()` by then. What is typed there stays while the
 * rest changes.
 */
export async function containerSchema(body, place, isNewest) {
    const text = element("pre", { tabindex: "0" });
    const fields = element("div", {});
    const outcomes = ["import", "deployment"].map(() => element("div", { "aria-live": "polite" }));
    const show = async () => {
        const schema = await administration.schema(place.container, place.environment);
        text.textContent = schema.text || "It is empty.";
        fields.replaceChildren(...fieldsOf(place, schema.recordTypes, show));
        // What was told was told of what there was.
        for (const outcome of outcomes) outcome.replaceChildren();
    };
    await show();
    if (!isNewest()) return;
    body.replaceChildren(
        element("details", { class: "panel" },
            element("summary", {}, `Text of ${place.environment}`), text),
        ...importForm(place.container, outcomes[0], show),
        ...deployment(place.container, outcomes[1], show), fields);
}
