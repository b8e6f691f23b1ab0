import Testing

/// Forms that are sent twice, as by a double click, as Node runs the page.
@Suite(.enabled(if: SiteScript.node != nil)) struct SiteFormTests {
    private static let people = """
        const { people } = await import("./people.js");
        const shown = people(main, context);
        async function refreshed() {
            for (const [part, json] of Object.entries({
                "/users": users, "/tokens": [], "/containers": ["c"], "/quotas": [],
            })) await answer(part, json);
        }
        await refreshed();
        await shown;
        asked.length = 0;
        const count = (what) => asked.filter(
            (each) => each.startsWith("POST") && each.endsWith(what)).length;

        """

    @Test func aDoubleClickMakesOneUser() throws {
        let printed = try SitePage.printed(
            by: Self.people + """
                await send("Add user", { text: "Twice" });
                await send("Add user", { text: "Twice" });
                console.log(count("/users"));
                await answer("/users", {});
                await refreshed();
                await send("Add user", { text: "Another" });
                console.log(count("/users"));
                """)
        #expect(printed == "1\n2\n")
    }

    @Test func aDoubleClickMakesOnePairOfTokens() throws {
        let printed = try SitePage.printed(
            by: Self.people + """
                await send("New token", { label: "phone" });
                await send("New token", { label: "phone" });
                console.log(count("/tokens"));
                """)
        #expect(printed == "1\n")
    }

    /// What was refused can be sent again.
    @Test func aRefusedFormIsOpenAgain() throws {
        let printed = try SitePage.printed(
            by: Self.people + """
                await send("Add user", { text: "Ann" });
                await answer("/users", { reason: "Not now." }, 503);
                await send("Add user", { text: "Ann" });
                console.log(count("/users"));
                """)
        #expect(printed == "2\n")
    }

    @Test func aDoubleClickOnAButtonDoesOneThing() throws {
        let printed = try SitePage.printed(
            by: """
                const { storage } = await import("./storage.js");
                const shown = storage(main, {
                    ...context, session: { isAdministrator: true, storage: "files" },
                });
                await answer("/backups", []);
                await shown;
                await press("Back up now");
                await press("Back up now");
                while (waiting.length > 0) await answer("/backups", []);
                console.log(asked.filter((each) => each.startsWith("POST")).length);
                """)
        #expect(printed == "1\n")
    }

    /// In the order of labels, not of drawn names.
    @Test func usersAreOfferedInTheOrderOfTheirLabels() throws {
        let printed = try SitePage.printed(
            by: """
                users.push({ userRecordName: "_b", label: "" });
                users.push({ userRecordName: "_c", label: "adam" });
                const { records } = await import("./records.js");
                await open(records);
                const form = main.querySelector("form");
                console.log(form.elements.owner.children.map((each) => each.text).join());
                """)
        #expect(printed == "_b,adam,Ann,Ben\n")
    }

    @Test func aLostEditIsToldInWordsForPeople() throws {
        let printed = try SitePage.printed(
            by: """
                const { recordView } = await import("./record.js");
                body.append(recordView(
                    { container: "c", environment: "development", database: "private" }, "notes",
                    { recordName: "a", recordType: "Note", fields: {} },
                    { back: () => undefined, changed: () => undefined }));
                await press("Delete", body);
                await press("Delete");
                await answer("records/modify", { records: [{
                    serverErrorCode: "CONFLICT", reason: "merge with serverRecord and retry.",
                }] });
                console.log(...["serverRecord", "Somebody else"].map(
                    (word) => notice.text.includes(word)));
                """)
        #expect(printed == "false true\n")
    }
}
