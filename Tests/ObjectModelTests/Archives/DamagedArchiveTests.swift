import Foundation
import Predicates
import Testing

@testable import ObjectModel

/// Archives that a faulty disk or a hostile hand made: none may crash, hang or grow.
@Suite struct DamagedArchiveTests {
    @Test func everyCutOfAnArchiveIsRefused() throws {
        let data = try BuildingTests.library().compiledData()
        for length in stride(from: 0, to: data.count - 1, by: 7) {
            #expect(throws: ModelFileError.self) {
                try NSManagedObjectModel.load(fromArchive: data.prefix(length))
            }
        }
    }

    /// Each byte is changed in two ways: the reader may refuse or read on, but must come back.
    @Test func noChangedByteBringsTheReaderDown() throws {
        let data = try BuildingTests.library().compiledData()
        var refused = 0
        for place in data.indices {
            for change: UInt8 in [0x01, 0xFF] {
                var damaged = data
                damaged[place] ^= change
                do {
                    let model = try NSManagedObjectModel.load(fromArchive: damaged)
                    _ = model.entityVersionHashesByName
                } catch {
                    #expect(error is ModelFileError)
                    refused += 1
                }
            }
        }
        #expect(refused > data.count / 4)
    }

    /// The same with every kind of predicate in the archive; what is read as text must parse or be
    /// refused, too.
    @Test func noChangedByteOfAPredicateBringsReadersDown() throws {
        let model = BuildingTests.library()
        let texts = [
            "a == 1 AND (b != nil OR NOT c IN {1, 2.5, \"x\"})", "$FETCH_SOURCE.a CONTAINS[cd] b",
            "FUNCTION($m, \"a:\", b) < now()", "d > CAST(12.5, \"NSDate\") AND #size LIKE \"*\"",
            "p == CAST(\"1.25\", \"NSDecimalNumber\")", "TRUEPREDICATE",
        ]
        for (place, text) in texts.enumerated() {
            model.fetchRequestTemplates["\(place)"] = FetchRequestTemplate(
                name: "\(place)", entityName: "Book", predicateText: text)
        }
        let data = try model.cacheData()
        var read = 0
        for place in stride(from: 0, to: data.count, by: 11) {
            var damaged = data
            damaged[place] ^= 0x03
            guard let again = try? NSManagedObjectModel.load(fromArchive: damaged) else { continue }
            for text in again.fetchRequestTemplates.values.compactMap(\.predicateText) {
                _ = try? NSPredicate.parse(text)
                read += 1
            }
        }
        #expect(read > data.count / 11)
    }

    private func archive(_ nodes: [PropertyListNode], root: Int) -> Data {
        PropertyListWriter.data(PropertyListTable(nodes: nodes, root: root))
    }

    @Test func aListThatContainsItselfIsReadOnce() throws {
        let nodes: [PropertyListNode] = [.array(Array(repeating: 0, count: 200))]
        let table = try PropertyListReader.table(archive(nodes, root: 0), file: "test")
        #expect(table.nodes == nodes)
    }

    @Test func otherListsAreNoModels() throws {
        let text = archive([.string("hello")], root: 0)
        #expect(throws: ModelFileError.self) { try NSManagedObjectModel.load(fromArchive: text) }
        var builder = KeyedArchiveBuilder()
        let date = ValueArchiver.archive(Date(timeIntervalSinceReferenceDate: 0), &builder)
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(fromArchive: builder.data(root: date))
        }
        #expect(error?.code == .notAModel)
        #expect(error?.message.contains("NSDate") == true)
    }

    @Test func parentsInACircleAreRefused() throws {
        let model = BuildingTests.library()
        let book = try #require(model.entitiesByName["Book"])
        let novel = try #require(model.entitiesByName["Novel"])
        novel.subentities = [book]
        // As no program can say it, but a file can.
        book.place.superentity = novel
        let data = try model.compiledData()
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(fromArchive: data)
        }
        #expect(error?.code == .inheritanceCircle)
        book.place.superentity = nil
    }

    /// Of one string that is its own text, and of two that are each other's.
    @Test(arguments: [1, 2])
    func textsThatHoldThemselvesAreNone(_ count: Int) throws {
        var builder = KeyedArchiveBuilder()
        let root = builder.reserve()
        let texts = (0..<count).map { _ in builder.reserve() }
        for (place, text) in texts.enumerated() {
            builder.fill(
                text, ["NSString", "NSObject"],
                [("NS.string", .reference(texts[(place + 1) % count]))])
        }
        builder.fill(root, ["NSObject"], [("name", .reference(texts[0]))])
        let archive = try KeyedArchive(builder.data(root: root), file: "test")
        #expect(try archive.root().string("name") == nil)
    }

    @Test func predicatesThatHoldThemselvesHaveNoText() throws {
        var builder = KeyedArchiveBuilder()
        let ancestry = ["NSCompoundPredicate", "NSPredicate", "NSObject"]
        let predicate = builder.reserve()
        let members = builder.array([predicate, predicate, predicate])
        builder.fill(
            predicate, ancestry,
            [("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", .reference(members))])
        let archive = try KeyedArchive(builder.data(root: predicate), file: "test")
        #expect(ArchivedPredicateText().text(ofPredicate: try archive.root()) == nil)
    }

    @Test func everyKindOfNodeReadsBack() throws {
        let nodes: [PropertyListNode] = [
            .null, .bool(true), .bool(false), .integer(0), .integer(255), .integer(256),
            .integer(65_536), .integer(Int64.max), .integer(-1), .integer(Int64.min), .real(0.1),
            .real(-.infinity), .date(12.5), .data(Data()), .data(Data(repeating: 7, count: 300)),
            .string(""), .string("ascii"), .string(String(repeating: "ü😀", count: 40)), .uid(0),
            .uid(70_000), .array([0, 1, 2]), .array([]),
            .dictionary([.init(key: 16, value: 20), .init(key: 15, value: 21)]),
        ]
        let table = try PropertyListReader.table(archive(nodes, root: 20), file: "test")
        #expect(table.nodes == nodes)
        #expect(table.root == 20)
    }
}
