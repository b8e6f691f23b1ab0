import Testing

/// Whether the console's page offers a backup, as Node runs it.
@Suite(.enabled(if: SiteScript.node != nil)) struct SiteBackupTests {
    /// Elements that know their children and nothing else.
    private static let document = """
        class Element {
            constructor(name) { this.name = name; this.children = []; }
            append(...more) { this.children.push(...more); }
            replaceChildren(...more) { this.children = more; }
            setAttribute() {}
            addEventListener() {}
            get classList() { return { toggle: () => undefined }; }
            get text() { return this.children.map((each) => each.text ?? each).join(""); }
            get buttons() {
                const own = this.name === "button" ? [this.text] : [];
                return own.concat(...this.children.map((each) => each.buttons ?? []));
            }
        }
        const message = new Element("p");
        globalThis.document = {
            createElement: (name) => new Element(name), getElementById: () => message,
        };
        globalThis.fetch = async () => ({
            ok: true, status: 200, headers: new Map(), json: async () => [], text: async () => "[]",
        });
        """

    private func shown(_ storage: String) throws -> String {
        try SiteScript.printed(
            by: """
                \(Self.document)
                const { storage } = await import("./storage.js");
                const main = new Element("main");
                await storage(main, {
                    session: { storage: "\(storage)" },
                    isShown: () => true, onLeave: () => undefined,
                });
                console.log(main.buttons.join(), main.text.includes("pg_dump"));
                """)
    }

    @Test func filesAreBackedUpByAButton() throws {
        #expect(try shown("files") == "Back up now,Look through the bucket false\n")
    }

    @Test func ofPostgreSQLThePageSaysWhatToUse() throws {
        #expect(try shown("postgres") == "Look through the bucket true\n")
    }

    @Test func whatIsInMemoryIsNotBackedUp() throws {
        #expect(try shown("memory") == "Look through the bucket false\n")
    }
}
