import Testing

/// The list of changes over what fails meanwhile, as Node runs the page. Its pauses end at once;
/// `pauses` tells how long they would have been, in seconds.
@Suite(.enabled(if: SiteScript.node != nil)) struct SiteFeedTests {
    private static let feed = """
        const pauses = [];
        const later = globalThis.setTimeout;
        let isHeld = false;
        globalThis.setTimeout = (work, milliseconds) => {
            if (milliseconds >= 1000) pauses.push(milliseconds / 1000);
            if (milliseconds < 1000 || !isHeld) return later(work, Math.min(milliseconds, 1));
        };
        const bodies = [];
        const ask = globalThis.fetch;
        globalThis.fetch = (address, request) => {
            bodies.push(request.body ? JSON.parse(request.body) : {});
            return ask(address, request);
        };
        const { changes } = await import("./changes.js");
        await open(changes);
        await send("Database", { owner: "_z" });
        await answer("zones/list?owner=_z", zones("notes"));
        await press("Watch");
        const record = (recordName) => ({ recordName, recordType: "Note" });
        const page = (syncToken, ...names) => ({
            zones: [{ syncToken, records: names.map(record) }],
        });
        await answer("changes/zone", page("1", "old"));
        await answer("changes/zone", page("2", "first"));
        const state = main.all((each) => each.attributes.role === "status")[0];
        const asks = (part) => asked.filter((each) => each.includes(part)).length;

        """

    @Test func theListGoesOnWhereItStoodAfterFailures() throws {
        let printed = try SitePage.printed(
            by: Self.feed + """
                await answer("changes/zone", { reason: "Not now." }, 503);
                console.log(state.text);
                await answer("changes/zone", { reason: "Slower.", retryAfter: 30 }, 429);
                console.log(state.text);
                await answer("changes/zone", { zones: [{
                    serverErrorCode: "TRY_AGAIN_LATER", reason: "Busy.",
                }] });
                console.log(state.text, bodies.at(-1).waitSeconds);
                await answer("changes/zone", page("3", "second"));
                console.log(state.text, pauses.join());
                const last = bodies.at(-1);
                console.log(last.zones[0].syncToken, last.waitSeconds > 0, notice.text);
                console.log(["old", "first", "second"].every((each) => main.text.includes(each)));
                """)
        #expect(
            printed == """
                Not now. The next try is in 1 s.
                Slower. The next try is in 30 s.
                Busy. The next try is in 4 s. undefined
                The list goes on. 1,30,4
                3 true\u{20}
                true

                """)
    }

    @Test func pausesGrowToAMinuteAndNoFurther() throws {
        let printed = try SitePage.printed(
            by: Self.feed + """
                for (let count = 0; count < 9; count += 1) await answer("changes/zone", {}, 502);
                console.log(pauses.join());
                """)
        #expect(printed == "1,2,4,8,16,32,60,60,60\n")
    }

    @Test func aServiceThatIsNotReachedIsAskedAgain() throws {
        let printed = try SitePage.printed(
            by: Self.feed + """
                const [request] = waiting;
                waiting = [];
                request.resolve(Promise.reject(new TypeError("network")));
                await settled();
                console.log(state.text);
                await answer("changes/zone", page("3", "second"));
                console.log(main.text.includes("second"));
                """)
        #expect(
            printed == "The service cannot be reached; is it running? The next try is in 1 s.\n"
                + "true\n")
    }

    /// A service that was put back to a backup knows no token of later.
    @Test func anExpiredTokenBeginsTheListAnew() throws {
        let printed = try SitePage.printed(
            by: Self.feed + """
                await answer("changes/zone", { zones: [{
                    serverErrorCode: "CHANGE_TOKEN_EXPIRED", reason: "Expired.",
                }] });
                console.log(bodies.at(-1).zones[0].syncToken, state.text.includes("anew"));
                await answer("changes/zone", page("1", "restored"));
                console.log(main.text.includes("restored"), main.text.includes("first"));
                """)
        #expect(printed == "undefined true\ntrue false\n")
    }

    @Test func whatNoTryMendsEndsTheListAndSaysSo() throws {
        let printed = try SitePage.printed(
            by: Self.feed + """
                const before = asks("changes/zone");
                await answer("changes/zone", { zones: [{
                    serverErrorCode: "ZONE_NOT_FOUND", reason: "There is no such zone.",
                }] });
                console.log(notice.text, state.text.includes("has ended"));
                console.log(asks("changes/zone") - before);
                """)
        #expect(printed == "There is no such zone. true\n0\n")
    }

    @Test func aListThatWasStoppedWhileItWaitsAsksNoMore() throws {
        let printed = try SitePage.printed(
            by: Self.feed + """
                isHeld = true;
                await answer("changes/zone", {}, 502);
                await press("Stop");
                const before = asks("changes/zone");
                await settled();
                console.log(asks("changes/zone") - before, state.text === "", notice.text);
                """)
        #expect(printed == "0 true \n")
    }
}
