// Who shares what with whom in a zone.

import { choice, element, labelled, newestOnly, table, trying } from "/console/elements.js";
import { placeText, service } from "/console/service.js";
import { placeForm, zoneNames } from "/console/records.js";

const sharesMax = 500;
const pagesMax = 100;

/** The shares of a zone as they are now; a share's record stands in the zone's own feed. */
async function sharesOf(place, zoneName) {
    const found = new Map();
    let syncToken;
    for (let page = 0; page < pagesMax && found.size < sharesMax; page += 1) {
        const answer = await service.operation(place, "changes/zone", {
            zones: [{ zoneID: { zoneName }, syncToken, desiredRecordTypes: ["cloudkit.share"] }],
        });
        const zone = answer.zones[0];
        if (zone.serverErrorCode) throw new Error(zone.reason ?? zone.serverErrorCode);
        for (const record of zone.records ?? []) {
            if (record.deleted) found.delete(record.recordName);
            else if (record.recordType === "cloudkit.share") found.set(record.recordName, record);
        }
        syncToken = zone.syncToken;
        if (!zone.moreComing) break;
    }
    return [...found.values()];
}

function personText(participant) {
    const identity = participant.userIdentity ?? {};
    const name = identity.nameComponents ?? {};
    const words = [name.givenName, name.familyName].filter(Boolean).join(" ");
    return words || identity.lookupInfo?.emailAddress || identity.userRecordName || "somebody";
}

function participantRow(participant) {
    const words = [participant.type, participant.permission, participant.acceptanceStatus]
        .filter(Boolean).map((word) => word.toLowerCase().replaceAll("_", " "));
    return element("li", {}, `${personText(participant)}: ${words.join(", ")}`);
}

function sharesTable(shares) {
    return table("Shares", [
        { title: "Share", cell: (share) => element("code", {}, share.recordName) },
        {
            title: "Of",
            cell: (share) => share.forRecord
                ? element("code", {}, share.forRecord.recordName) : "the whole zone",
        },
        {
            title: "Everybody with the link",
            cell: (share) => (share.publicPermission ?? "NONE").toLowerCase().replaceAll("_", " "),
        },
        {
            title: "Participants",
            cell: (share) => element("ul", {}, (share.participants ?? []).map(participantRow)),
        },
    ], shares, "Nothing is shared in this zone.");
}

export async function shares(main, context) {
    const body = element("div", {});
    const open = (place, isNewest) => trying(async () => {
        body.replaceChildren();
        const zones = await zoneNames(place);
        if (!isNewest()) return;
        const list = element("div", { "aria-live": "polite" });
        const zone = choice("zone", zones, zones.at(-1), () => show());
        const ask = newestOnly();
        const show = () => trying(async () => {
            const isWanted = ask();
            list.replaceChildren();
            const found = zones.length ? await sharesOf(place, zone.value) : [];
            if (isWanted()) list.replaceChildren(sharesTable(found));
        });
        body.replaceChildren(element("p", { class: "soft" }, `In ${placeText(place)}.`),
            element("form", { class: "panel", "aria-label": "Zone" }, labelled("Zone", zone)),
            list);
        await show();
    });
    main.append(element("h1", {}, "Shares"), await placeForm(context, open), body);
}
