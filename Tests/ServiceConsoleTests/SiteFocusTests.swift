import Testing

/// Where the keyboard stands after what takes its place away, as Node runs the page.
@Suite(.enabled(if: SiteScript.node != nil)) struct SiteFocusTests {
    private static let records = """
        const { records } = await import("./records.js");
        await open(records);
        await send("Database", { owner: "_z" });
        await answer("schema/", [{ name: "Note", fields: [] }]);
        await answer("zones/list", zones("notes"));
        await send("Query", {});
        const note = (recordName) => ({
            recordName, recordType: "Note", recordChangeTag: "1", fields: {},
        });

        """

    @Test func theWayBackFromARecordLeadsToItsName() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await answer("records/query", { records: [note("first"), note("second")] });
                await press("second");
                console.log(focused.name, focused.text);
                await press("Back");
                console.log(focused.name, focused.text);
                """)
        #expect(printed == "h2 Note second\nbutton second\n")
    }

    @Test func moreRecordsAreReadOnWhereTheyBegin() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await answer("records/query", {
                    records: [note("first")], continuationMarker: "m",
                });
                await press("More");
                await answer("records/query", { records: [note("second"), note("third")] });
                console.log(focused.text);
                """)
        #expect(printed == "second\n")
    }

    @Test func aRecordThatIsGoneLeadsToTheList() throws {
        let printed = try SitePage.printed(
            by: Self.records + """
                await answer("records/query", { records: [note("first"), note("second")] });
                await press("second");
                await press("Delete", main);
                await press("Delete");
                await answer("records/modify", { records: [{ deleted: true }] });
                await answer("records/query", { records: [note("first")] });
                console.log(focused.name, focused.text);
                """)
        #expect(printed == "h2 1 record\n")
    }

    @Test func aListThatIsStoppedLeavesTheKeyboardAtItsBeginning() throws {
        let printed = try SitePage.printed(
            by: """
                const { changes } = await import("./changes.js");
                await open(changes);
                await send("Database", { owner: "_z" });
                await answer("zones/list", zones("notes"));
                await press("Watch");
                await press("Stop");
                console.log(focused.text);
                """)
        #expect(printed == "Watch\n")
    }
}
