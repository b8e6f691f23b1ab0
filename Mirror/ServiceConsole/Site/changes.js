// What changes in a zone, as it happens.

import { button, choice, element, labelled, time, trying } from "/console/elements.js";
import { placeText, service } from "/console/service.js";
import { placeForm, zoneNames } from "/console/records.js";

const shownMax = 200;
const waitSeconds = 25;
const pauseMilliseconds = 5_000;

class Feed {
    constructor(place, zone, list, waits) {
        Object.assign(this, { place, zone, list, waits, isRunning: true });
        this.control = new AbortController();
    }

    stop() {
        this.isRunning = false;
        this.control.abort();
    }

    async ask(wait) {
        const body = {
            zones: [{ zoneID: { zoneName: this.zone }, syncToken: this.token, resultsLimit: 200 }],
        };
        if (wait && this.waits) body.waitSeconds = waitSeconds;
        const answer = await service.operation(
            this.place, "changes/zone", body, this.control.signal);
        return answer.zones[0];
    }

    /** Goes to the end of what is there, then waits for more. */
    async run() {
        let isPast = true;
        while (this.isRunning) {
            const page = await this.ask(!isPast);
            // Another zone's list may stand in the place by now.
            if (!this.isRunning) return;
            if (page.serverErrorCode) throw new Error(page.reason ?? page.serverErrorCode);
            this.token = page.syncToken;
            for (const record of page.records ?? []) this.show(record, isPast);
            if (page.moreComing) continue;
            if (!isPast && !this.waits) {
                await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
            }
            isPast = false;
        }
    }

    show(record, isPast) {
        const what = record.deleted ? "deleted" : record.recordType;
        const device = record.modified?.deviceID ? ` on ${record.modified.deviceID}` : "";
        this.list.prepend(element("li", { class: isPast ? "soft" : undefined },
            time(record.modified?.timestamp), ` ${what} `,
            element("code", {}, record.recordName), device));
        while (this.list.childElementCount > shownMax) this.list.lastElementChild.remove();
    }
}

export async function changes(main, context) {
    const body = element("div", {});
    let feed;
    context.onLeave(() => feed?.stop());
    const open = (place, isNewest) => trying(async () => {
        feed?.stop();
        body.replaceChildren();
        const zones = await zoneNames(place);
        if (!isNewest()) return;
        const list = element("ol", { role: "log", "aria-label": "Changes" });
        const zone = choice("zone", zones, zones.at(-1));
        const stop = button("Stop", () => {
            feed?.stop();
            stop.disabled = true;
        });
        stop.disabled = true;
        const start = button("Watch", () => {
            feed?.stop();
            list.replaceChildren();
            feed = new Feed(place, zone.value, list, context.session.waits);
            stop.disabled = false;
            trying(() => feed.run());
        }, "main");
        body.replaceChildren(element("p", { class: "soft" }, `In ${placeText(place)}.`),
            element("form", { class: "panel", "aria-label": "Zone" },
            labelled("Zone", zone), start, stop), list);
    });
    main.append(element("h1", {}, "Changes"), await placeForm(context, open), body);
}
