// What changes in a zone, as it happens.

import { button, choice, element, labelled, time, trying } from "/console/elements.js";
import { placeText, Refusal, service } from "/console/service.js";
import { placeForm, zoneNames } from "/console/records.js";

const shownMax = 200;
const waitSeconds = 25;
const pauseMilliseconds = 5_000;
const retryMilliseconds = 1_000;
const retryMillisecondsMax = 60_000;

/** Whether the same question may be answered later: the service is away, busy, or asks to wait. */
function passes(error) {
    return error.status === 0 || error.status === 429 || error.status >= 500
        || ["THROTTLED", "TRY_AGAIN_LATER"].includes(error.code);
}

class Feed {
    constructor(place, zone, list, waits, say) {
        Object.assign(this, { place, zone, list, waits, say, isRunning: true, isPast: true });
        this.control = new AbortController();
        this.failures = 0;
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

    /** Goes to the end of what is there, then waits for more, over what fails for a while. */
    async run() {
        while (this.isRunning) {
            try {
                if (!await this.take()) return;
                if (this.failures > 0) this.say("The list goes on.");
                this.failures = 0;
            } catch (error) {
                if (this.isRunning && this.token && error.code === "CHANGE_TOKEN_EXPIRED") {
                    this.begin();
                } else if (this.isRunning && passes(error)) {
                    await this.retry(error);
                } else {
                    throw error;
                }
            }
        }
    }

    /** One question and its answer; false where nobody waits for it any more. */
    async take() {
        // After a failure the answer comes at once, and says that all is well again.
        const page = await this.ask(!this.isPast && this.failures === 0);
        // Another zone's list may stand in the place by now.
        if (!this.isRunning) return false;
        if (page.serverErrorCode) throw new Refusal(400, page);
        this.token = page.syncToken;
        for (const record of page.records ?? []) this.show(record, this.isPast);
        if (page.moreComing) return true;
        const isIdle = !this.isPast && !this.waits && this.failures === 0;
        this.isPast = false;
        if (isIdle) await this.pause(pauseMilliseconds);
        return true;
    }

    /** The service does not know where this list stood: it was put back, or cleaned up. */
    begin() {
        this.token = undefined;
        this.isPast = true;
        this.list.replaceChildren();
        this.say("The service does not know any more where this list stood, so it begins anew.");
    }

    async retry(error) {
        const longer = retryMilliseconds * 2 ** this.failures;
        const asked = (error.retryAfter ?? 0) * 1000;
        const pause = Math.max(asked, Math.min(longer, retryMillisecondsMax));
        this.failures += 1;
        this.say(`${error.message} The next try is in ${Math.ceil(pause / 1000)} s.`);
        await this.pause(pause);
    }

    /** Ends early where the list is stopped. */
    pause(milliseconds) {
        return new Promise((resolve) => {
            const { signal } = this.control;
            const end = () => {
                clearTimeout(timer);
                signal.removeEventListener("abort", end);
                resolve();
            };
            const timer = setTimeout(end, milliseconds);
            signal.addEventListener("abort", end);
        });
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

/** What no later try mends ends the list, and `ended` says so beside it. */
function watch(feed, ended) {
    trying(async () => {
        try {
            await feed.run();
        } catch (error) {
            if (feed.isRunning) ended();
            feed.isRunning = false;
            throw error;
        }
    });
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
        const state = element("p", { class: "soft", role: "status" });
        const say = (text) => { state.textContent = text; };
        const zone = choice("zone", zones, zones.at(-1));
        const stop = button("Stop", () => {
            feed?.stop();
            // A button that is out of use keeps no focus.
            start.focus();
            stop.disabled = true;
            say("");
        });
        stop.disabled = true;
        const start = button("Watch", () => {
            feed?.stop();
            list.replaceChildren();
            say("");
            const own = new Feed(place, zone.value, list, context.session.waits, say);
            feed = own;
            stop.disabled = false;
            watch(own, () => {
                stop.disabled = true;
                say("The list has ended; “Watch” begins another.");
            });
        }, "main");
        body.replaceChildren(element("p", { class: "soft" }, `In ${placeText(place)}.`),
            element("form", { class: "panel", "aria-label": "Zone" },
            labelled("Zone", zone), start, stop), state, list);
    });
    main.append(element("h1", {}, "Changes"), await placeForm(context, open), body);
}
