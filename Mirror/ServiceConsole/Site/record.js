// One record: its fields, and an edit that is refused where somebody else was faster.

import { button, confirmed, element, labelled, tell, time, trying } from "/console/elements.js";
import { service } from "/console/service.js";

const editable = { STRING: "text", INT64: "number", DOUBLE: "number", TIMESTAMP: "number" };

/** A field's value as text, for people. */
export function valueText(field) {
    if (field.type === "TIMESTAMP") return new Date(field.value).toISOString();
    if (field.isEncrypted) return "(sealed on the device)";
    return typeof field.value === "object" ? JSON.stringify(field.value) : String(field.value);
}

function fieldEditor(name, field, edited) {
    const kind = field.isEncrypted ? undefined : editable[field.type];
    if (!kind) {
        return element("div", {}, element("span", { class: "soft" }, `${name} (${field.type})`),
            element("code", {}, valueText(field)));
    }
    const read = (text) => {
        if (field.type === "STRING") return text;
        return field.type === "DOUBLE" ? Number.parseFloat(text) : Number.parseInt(text, 10);
    };
    const change = (event) => edited.set(name, { ...field, value: read(event.target.value) });
    const box = kind === "text" && String(field.value).length > 60
        ? element("textarea", { value: field.value, onchange: change })
        : element("input", {
            type: kind, value: field.value, onchange: change,
            step: field.type === "DOUBLE" ? "any" : undefined,
        });
    return element("div", {}, labelled(`${name} (${field.type})`, box));
}

async function modify(place, zone, operation) {
    const answer = await service.operation(place, "records/modify", {
        zoneID: { zoneName: zone }, operations: [operation],
    });
    const result = answer.records[0];
    if (result.serverErrorCode) throw new Error(result.reason ?? result.serverErrorCode);
}

/** The view of a record; `ways.back` closes it, `ways.changed` after a change. */
export function recordView(place, zone, record, ways) {
    const edited = new Map();
    // In a public database who made a record may change it.
    const acting = place.database === "public" && record.created?.userRecordName
        ? { ...place, owner: record.created.userRecordName } : place;
    const fields = Object.entries(record.fields ?? {})
        .map(([name, field]) => fieldEditor(name, field, edited));
    const save = () => trying(async () => {
        if (edited.size === 0) return tell("Nothing was changed.");
        if (!await confirmed(
            `Change ${edited.size} fields? All devices of the user take the change.`, "Change")) {
            return undefined;
        }
        await modify(acting, zone, {
            operationType: "update",
            record: {
                recordName: record.recordName, recordType: record.recordType,
                recordChangeTag: record.recordChangeTag, fields: Object.fromEntries(edited),
            },
        });
        ways.changed();
        return tell("The record is changed.");
    });
    const remove = () => trying(async () => {
        if (!await confirmed("Delete the record, on all devices of the user?", "Delete")) return;
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
        element("p", { class: "soft" }, "Changed ", time(record.modified?.timestamp),
            ` by ${record.modified?.userRecordName ?? "nobody known"}`,
            record.modified?.deviceID ? ` on ${record.modified.deviceID}` : "",
            ", made ", time(record.created?.timestamp), "."),
        element("div", { class: "fields" }, fields),
        element("div", { class: "actions" }, button("Save", save, "main"),
            button("Delete", remove, "bad"), button("Back", ways.back)));
}
