import Testing

/// Answers that come in another order than their questions, as Node runs the page.
@Suite(.enabled(if: SiteScript.node != nil)) struct SiteRaceTests {
    /// Opens the records of Ann and then of Ben; each has a zone of her or his own name.
    private static let records = """
        const { records } = await import("./records.js");
        await open(records);
        const types = [{ name: "Note", fields: [{ name: "n", type: "INT64" }] }];
        const note = (recordName) => ({
            recordName, recordType: "Note", recordChangeTag: "1", fields: {},
        });
        const placed = (owner) => ({ owner, container: "iCloud.org.example",
            environment: "development", database: "private" });
        async function opened(owner, zone) {
            await answer(`schema/iCloud.org.example/development/private?owner=${owner}`, types);
            await answer(`zones/list?owner=${owner}`, zones(zone));
        }

        """

    @Test func anAnswerOfTheDatabaseOpenedBeforeIsNotShown() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await send("Database", { owner: "_z" });
                await send("Database", { owner: "_a" });
                await opened("_a", "of Ben");
                await opened("_z", "of Ann");
                console.log(main.text.includes("of Ben"), main.text.includes("of Ann"));
                """)
        #expect(printed == "true false\n")
    }

    /// Else what is seen below is another's than the form says.
    @Test func aDatabaseThatCannotBeOpenedLeavesNoOther() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await send("Database", { owner: "_z" });
                await opened("_z", "of Ann");
                await send("Database", { owner: "_a" });
                console.log(main.text.includes("of Ann"));
                await answer("schema/", { reason: "Not now." }, 503);
                await answer("zones/list", zones("of Ben"));
                console.log(main.text.includes("of Ann"), notice.text);
                """)
        #expect(printed == "false\nfalse Not now.\n")
    }

    @Test func theAnswerOfAnOlderQueryIsNotShown() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await send("Database", { owner: "_z" });
                await opened("_z", "notes");
                await send("Query", {});
                await send("Query", {});
                const [older, newer] = waiting;
                waiting = [newer];
                await answer("records/query", { records: [note("newer")] });
                waiting = [older];
                await answer("records/query", { records: [note("older"), note("old")] });
                console.log(main.text.includes("newer"), main.text.includes("older"));
                """)
        #expect(printed == "true false\n")
    }

    /// By the page's button, and by the browser's.
    @Test func theWayBackFromARecordLeadsToItsList() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await send("Database", { owner: "_z" });
                await opened("_z", "notes");
                await send("Query", {});
                await answer("records/query", { records: [note("first")] });
                console.log(main.text.includes("1 record"), main.text.includes("1 records"));
                for (const way of [() => press("Back"), () => history.back()]) {
                    await press("first");
                    console.log(main.text.includes("Delete"), main.text.includes("1 record"));
                    await way();
                    console.log(main.text.includes("Delete"), main.text.includes("1 record"));
                }
                """)
        #expect(printed == "true false\n" + String(repeating: "true false\nfalse true\n", count: 2))
    }

    /// Its looks would wipe what the next view tells.
    @Test func anOverviewThatWasLeftLooksNoMore() throws {
        let printed = try SitePage.printed(
            by: """
                globalThis.setInterval = () => console.log("looks again");
                const { overview } = await import("./overview.js");
                let isShown = true;
                const shown = overview(main, { ...context, isShown: () => isShown });
                isShown = false;
                await answer("/status", {});
                await shown;
                console.log("left");
                """)
        #expect(printed == "left\n")
    }

    @Test func aRefusedQueryLeavesNoFormerAnswer() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await send("Database", { owner: "_z" });
                await opened("_z", "notes");
                await send("Query", {});
                await answer("records/query", { records: [note("former")] });
                await send("Query", { field: "n", value: "abc" });
                console.log(main.text.includes("former"), notice.text.length > 0);
                """)
        #expect(printed == "false true\n")
    }

    @Test func aQuestionSaysWhoseRecordItIs() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await send("Database", { owner: "_z" });
                await opened("_z", "notes");
                await send("Query", {});
                await answer("records/query", { records: [note("mine")] });
                await press("mine");
                const words = ["notes", "Ann", "_z", "iCloud.org.example", "development"];
                const section = main.querySelector("section");
                console.log(words.every((word) => section.text.includes(word)));
                await press("Delete");
                const question = body.querySelector("dialog").text;
                console.log(words.every((word) => question.includes(word)));
                """)
        #expect(printed == "true\ntrue\n")
    }

    @Test func anEditThatEndsLateBringsNoFormerDatabaseBack() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await send("Database", { owner: "_z" });
                await opened("_z", "of Ann");
                await send("Query", {});
                await answer("records/query", { records: [note("mine")] });
                await press("mine");
                await press("Delete", main);
                await press("Delete");
                await send("Database", { owner: "_a" });
                await opened("_a", "of Ben");
                await answer("records/modify", { records: [{ deleted: true }] });
                console.log(main.text.includes("of Ben"), main.text.includes("of Ann"));
                """)
        #expect(printed == "true false\n")
    }

    @Test(arguments: ["changes", "shares"])
    func zonesOfTheDatabaseOpenedBeforeAreNotShown(view: String) throws {
        let printed = try SitePage.printed(
            by: """
                const { \(view): show } = await import("./\(view).js");
                await open(show);
                await send("Database", { owner: "_z" });
                await send("Database", { owner: "_a" });
                await answer("zones/list?owner=_a", zones("of Ben"));
                await answer("zones/list?owner=_z", zones("of Ann"));
                console.log(main.text.includes("of Ben"), main.text.includes("of Ann"));
                """)
        #expect(printed == "true false\n")
    }

    @Test func theUserAskedForLastIsShown() throws {
        let printed = try SitePage.printed(
            by: """
                const { people } = await import("./people.js");
                const shown = people(main, context);
                for (const [part, json] of Object.entries({
                    "/users": users, "/tokens": [], "/containers": [], "/quotas": [],
                })) await answer(part, json);
                await shown;
                await press("Ann");
                await press("Ben");
                await answer("/users/_a", { userRecordName: "_a", label: "Ben" });
                await answer("/users/_z", { userRecordName: "_z", label: "Ann" });
                const view = main.querySelector("section");
                console.log(view.text.includes("_a"), view.text.includes("_z"));
                """)
        #expect(printed == "true false\n")
    }

    /// A preview is of the text that stands there, or of none.
    @Test func aPreviewOfAFormerTextIsNotShown() throws {
        let printed = try SitePage.printed(
            by: """
                const { containerSchema } = await import("./deployment.js");
                const shown = containerSchema(
                    main, { container: "c", environment: "development" }, () => true);
                await answer("/schemas/c/development", { text: "", recordTypes: [] });
                await shown;
                await send("Take in a schema", { text: "former" });
                const text = main.all((each) => each.name === "textarea")[0];
                text.value = "present";
                text.listeners.input({});
                await answer("/preview", { changes: ["+ former"] });
                console.log(main.text.includes("+ former"));
                await send("Take in a schema", { text: "present" });
                await answer("/preview", { changes: ["+ present"] });
                console.log(main.text.includes("+ present"));
                """)
        #expect(printed == "false\ntrue\n")
    }

    /// Whoever types on has not looked at what the button would let in.
    @Test func theDeviceThatWasLookedAtIsLetIn() throws {
        let printed = try SitePage.printed(
            by: """
                const sent = [];
                const ask = globalThis.fetch;
                globalThis.fetch = (address, request) => {
                    sent.push(request.body ?? "");
                    return ask(address, request);
                };
                const { device } = await import("./device.js");
                await device(main, { ...context, session: { isAdministrator: false } });
                await send("Code", { code: "AAAA" });
                await answer("/device/look", { label: "phone", container: "c" });
                main.querySelector("input").value = "BBBB";
                await press("Let in");
                console.log(sent.at(-1).includes("AAAA"));
                """)
        #expect(printed == "true\n")
    }
}
