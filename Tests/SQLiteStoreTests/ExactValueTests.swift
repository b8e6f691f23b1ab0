import Foundation
import Predicates
import Stores
import Testing

@testable import SQLiteStore

/// Values come back exactly, and predicates see them so.
@Suite struct ExactValueTests {
    @Test func datesAndNumbersKeepAllTheirDigits() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        for seconds in [749_000_000.123_456_7, -0.000_001, 0, -63_114_076_800, 1e-300] {
            let id = try fixture.insert(
                "Kinds", ["when": .date(seconds), "real": .double(seconds)])
            #expect(try fixture.value(id, "when") == .date(seconds))
            #expect(try fixture.value(id, "real") == .double(seconds))
        }
        for text in ["-10.11", "0.1", "-0.000001", "123456789.25", "5", "-7"] {
            let decimal = try #require(Decimal(string: text))
            let id = try fixture.insert("Kinds", ["amount": .decimal(decimal)])
            #expect(try fixture.value(id, "amount") == .decimal(decimal))
        }
        let id = try fixture.insert("Kinds", ["single": .double(0.1)])
        #expect(try fixture.value(id, "single") == .double(Double(Float(0.1))))
    }

    @Test func lengthsAreThoseOfNSString() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        for text in ["a", "🦊", "e\u{301}", ""] {
            let id = try fixture.insert("Kinds", ["text": .text(text)])
            for format in [
                "text == %@ AND text.length == %ld", "text == %@ AND length(text) == %ld",
            ] {
                var query = RowQuery(entity: id.entity)
                query.predicate = node(
                    of: try NSPredicate.parse(format, arguments: [text, text.utf16.count]))
                #expect(try fixture.store.ids(matching: query) == [id], "\(format)")
            }
        }
    }

    /// What is of another kind is never equal; it differs from what is there.
    @Test func valuesOfAnotherKindDifferFromWhatIsThere() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        let id = try fixture.insert("Kinds", ["text": .text("5"), "int16": .integer(5)])
        try fixture.insert("Kinds")
        func find(_ format: String) throws -> [RowID] {
            var query = RowQuery(entity: id.entity)
            query.predicate = node(of: try NSPredicate.parse(format))
            return try fixture.store.ids(matching: query)
        }
        #expect(try find("text != 5 AND int16 != 'x'") == [id])
        #expect(try find("text == 5 OR int16 == 'x'").isEmpty)
        #expect(try find("text IN {5} AND int16 IN {'5', 'x'}") == [id])
    }
}
