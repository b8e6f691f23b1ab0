import Foundation
import RecordWire
import Testing

/// What the console's page makes of a field's value and back, as Node runs it.
@Suite(.enabled(if: SiteScript.node != nil)) struct SiteValueTests {
    /// What a script prints, which has the functions of `values.js`.
    private func run(_ script: String) throws -> String {
        let names = "editableText, editedValue, shownText, typedValue, valueText"
        return try SiteScript.printed(by: "import { \(names) } from './values.js';\n\(script)")
    }

    private static let exact = [
        #"{ type: "INT64", value: "9223372036854775807" }"#,
        #"{ type: "INT64", value: "-9223372036854775808" }"#,
        #"{ type: "INT64", value: 7 }"#, #"{ type: "DOUBLE", value: 1e300 }"#,
        #"{ type: "DOUBLE", value: 0.1 }"#, #"{ type: "TIMESTAMP", value: -62135596800001 }"#,
        #"{ type: "STRING", value: "a\nb" }"#, #"{ type: "STRING", value: "a\r\nb\r\n" }"#,
        #"{ type: "STRING", value: "a\rb" }"#, #"{ type: "STRING", value: "" }"#,
        #"{ type: "STRING", value: "\u2028 \u0000 é" }"#,
    ]

    @Test(arguments: exact) func whatIsNotChangedComesBackAsItWas(field: String) throws {
        let printed = try run(
            """
            const field = \(field), text = editableText(field);
            const back = String(editedValue(field, text));
            console.log(!text.includes("\\r"), back === `${field.value}`);
            """)
        #expect(printed == "true true\n")
    }

    @Test(arguments: [
        #"{ type: "STRING", value: "a\r\nb\nc" }"#, #"{ type: "STRING", value: "a\rb\nc" }"#,
        #"{ type: "INT64", value: 9007199254740993 }"#, #"{ type: "DOUBLE", value: "NaN" }"#,
        #"{ type: "TIMESTAMP", value: 9007199254740993 }"#, #"{ type: "BYTES", value: "AA==" }"#,
        #"{ type: "STRING", value: "a", isEncrypted: true }"#,
    ])
    func whatABoxWouldChangeIsOnlyShown(field: String) throws {
        #expect(try run("console.log(editableText(\(field)) === undefined)") == "true\n")
    }

    /// A browser stands still for minutes over a text of a megabyte in a box.
    @Test func aTextOfAMegabyteIsShownByItsBeginning() throws {
        let printed = try run(
            """
            const field = { type: "STRING", value: "a".repeat(900000) };
            const shown = shownText(field);
            console.log(editableText(field) === undefined, shown.length < 6000);
            console.log(shown.replace(/\\D/g, ""), shownText({ type: "STRING", value: "b" }));
            """)
        #expect(printed == "true true\n900000 b\n")
    }

    @Test func whatIsNoValueIsRefusedInWords() throws {
        for (type, text) in [
            ("INT64", "9223372036854775808"), ("INT64", "1.5"), ("INT64", ""), ("INT64", "12abc"),
            ("DOUBLE", ""), ("DOUBLE", "1,5"), ("DOUBLE", "12abc"), ("DOUBLE", "1e999"),
            ("TIMESTAMP", "99999999999999999999"), ("TIMESTAMP", "soon"),
        ] {
            let printed = try run(
                """
                try { console.log(typedValue("\(text)", "\(type)")); }
                catch (error) { console.log(error.constructor.name, error.message); }
                """)
            #expect(printed.hasPrefix("Error "), "\(type) \(text): \(printed)")
        }
    }

    @Test func aNumberOfAllItsDigitsGoesToTheServiceAndBack() throws {
        let body = try run(
            """
            const field = { type: "INT64", value: "1" };
            const value = editedValue(field, "9007199254740993");
            console.log(JSON.stringify({ operations: [{ operationType: "forceUpdate", record: {
                recordName: "a", recordType: "Note", fields: { n: { ...field, value } } } }] }));
            """)
        let request = try WireCodec.decodeRequest(
            path: "records/modify", method: "POST", body: Data(body.utf8))
        guard case .modifyRecords(let modification) = request else {
            Issue.record("\(request)")
            return
        }
        let record = modification.operations.first?.record
        #expect(record?.fields["n"] == .int64(9_007_199_254_740_993))
    }

    @Test func aDateThatNoCalendarHasIsShownAsItsNumber() throws {
        #expect(
            try run(#"console.log(valueText({ type: "TIMESTAMP", value: 9e15 }))"#)
                == "9000000000000000\n")
        #expect(
            try run(#"console.log(valueText({ type: "INT64_LIST", value: ["1", "2"] }))"#)
                == "[1,2]\n")
    }
}
