// One record: its fields, and an edit that is refused where somebody else was faster.

import {
    button, confirmed, counted, element, labelled, tell, time, trying,
} from "/console/elements.js";
import { placeText, service } from "/console/service.js";
import { editableText, editedValue, shownText } from "/console/values.js";

const longTextMin = 60;

function fieldEditor(name, field, edited) {
    const text = editableText(field);
    if (text === undefined) {
        return element("div", {}, element("span", { class: "soft" }, `${name} (${field.type})`),
            element("code", {}, shownText(field)));
    }
    const change = (event) => edited.set(name, { field, text: event.target.value });
    const isText = field.type === "STRING";
    // A box of one line has no line feeds.
    const box = isText && (text.length > longTextMin || text.includes("\n"))
        ? element("textarea", { value: text, onchange: change })
        : element("input", {
            type: "text", value: text, onchange: change, inputmode: isText ? undefined : "decimal",
        });
    return element("div", {}, labelled(`${name} (${field.type})`, box));
}

/** The fields as they are sent. Throws for what is no value of its field. */
function changedFields(edited) {
    return Object.fromEntries([...edited].map(([name, { field, text }]) =>
        [name, { ...field, value: editedValue(field, text) }]));
}

async function modify(place, zone, operation) {
    const answer = await service.operation(place, "records/modify", {
        zoneID: { zoneName: zone }, operations: [operation],
    });
    const result = answer.records[0];
    if (result.serverErrorCode === "CONFLICT") {
        throw new Error("Somebody else changed the record meanwhile; nothing was done. Find it "
            + "anew first.");
    }
    if (result.serverErrorCode) throw new Error(result.reason ?? result.serverErrorCode);
}

/** The view of a record; `ways.back` closes it, `ways.changed` after a change. */
export function recordView(place, zone, record, ways) {
    const edited = new Map();
    const where = `zone ${zone} of ${placeText(place)}`;
    // In a public database who made a record may change it.
    const acting = place.database === "public" && record.created?.userRecordName
        ? { ...place, owner: record.created.userRecordName } : place;
    const editors = Object.entries(record.fields ?? {})
        .map(([name, field]) => fieldEditor(name, field, edited));
    const save = () => trying(async () => {
        if (edited.size === 0) return tell("Nothing was changed.");
        const fields = changedFields(edited);
        const question = `Change ${counted(edited.size, "field")} of the record ${record.recordName} in `
            + `${where}? All devices of the user take the change.`;
        if (!await confirmed(question, "Change")) return undefined;
        await modify(acting, zone, {
            operationType: "update",
            record: {
                recordName: record.recordName, recordType: record.recordType,
                recordChangeTag: record.recordChangeTag, fields,
            },
        });
        ways.changed();
        return tell("The record is changed.");
    });
    const remove = () => trying(async () => {
        const question = `Delete the record ${record.recordName} in ${where}, `
            + "on all devices of the user?";
        if (!await confirmed(question, "Delete")) return;
        await modify(acting, zone, {
            operationType: "delete",
            record: { recordName: record.recordName, recordChangeTag: record.recordChangeTag },
        });
        ways.changed();
        tell("The record is deleted.");
    });
    return element("section", { class: "panel", "aria-label": "Record" },
        element("h2", { tabindex: "-1" }, `${record.recordType} `,
            element("code", {}, record.recordName)),
        element("p", { class: "soft" }, `In ${where}.`),
        element("p", { class: "soft" }, "Changed ", time(record.modified?.timestamp),
            ` by ${record.modified?.userRecordName ?? "nobody known"}`,
            record.modified?.deviceID ? ` on ${record.modified.deviceID}` : "",
            ", made ", time(record.created?.timestamp), "."),
        element("div", { class: "fields" }, editors),
        element("div", { class: "actions" }, button("Save", save, "main"),
            button("Delete", remove, "bad"), button("Back", ways.back)));
}
