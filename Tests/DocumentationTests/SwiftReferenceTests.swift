import CoreData
import Foundation
import MirrorEngine
import Testing

/// What docs/SWIFT.md shows runs, and its tables name what is there.
@Suite struct SwiftReferenceTests {
    private func device(_ name: String, _ service: LocalService) throws -> MirroredContainer {
        let model = try NSManagedObjectModel.load(
            from: Document.root.appendingPathComponent("Tools/demo-model/Library.xcdatamodel"))
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                url: service.folder.appendingPathComponent("\(name)/Library.sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return try MirroredContainer(
            container, service: service.url, authority: service.authority,
            credentials: service.credentials, progress: { _ in })
    }

    private func book(
        of device: MirroredContainer, _ change: @escaping @Sendable (NSManagedObject) -> Void
    ) async throws -> String {
        let context = device.container.newBackgroundContext()
        return try await context.perform {
            let book =
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first
                ?? NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            change(book)
            if context.hasChanges { try context.save() }
            return book.value(forKey: "title") as? String ?? ""
        }
    }

    @Test func aQuestionIsDecidedAndTravels() async throws {
        let service = try LocalService()
        let (desk, phone) = (try device("desk", service), try device("phone", service))
        _ = try await book(of: desk) { $0.setValue("Emma", forKey: "title") }
        #expect(try await desk.sync())
        #expect(try await phone.sync())
        _ = try await book(of: desk) { $0.setValue("Desk", forKey: "title") }
        _ = try await book(of: phone) { $0.setValue("Phone", forKey: "title") }
        #expect(try await desk.sync())
        #expect(try await !phone.sync())
        let question = try #require(try phone.openQuestions().first)
        #expect(question.property == "title")
        try phone.decide(question, taking: .remote)
        #expect(try await phone.sync())
        #expect(try await book(of: phone) { _ in } == "Desk")
        #expect(try phone.session.store.conflicts().first?.rule == ConflictEntry.handRule)
    }

    /// Each `Name.member` or `Name` in the first column of the tables stands in the sources.
    @Test func theTablesNameWhatIsThere() throws {
        let declared = try Self.declaredWords(of: ["Mirror", "Sources/Persistence"])
        let rows = try Document("docs/SWIFT.md").lines.filter { $0.hasPrefix("| `") }
        #expect(rows.count > 20)
        for row in rows {
            let cell = row.split(separator: "|").first ?? ""
            for name in cell.split(separator: "`").enumerated().filter({ $0.offset % 2 == 1 }) {
                let member =
                    name.element.prefix { $0.isLetter || $0 == "." }
                    .split(separator: ".").last ?? ""
                #expect(declared.contains(member), "docs/SWIFT.md names \(name.element)")
            }
        }
    }

    /// The words that stand behind a declaration's keyword, on its line.
    private static func declaredWords(of areas: [String]) throws -> Set<Substring> {
        var words: Set<Substring> = []
        for area in areas {
            let folder = Document.root.appendingPathComponent(area).path
            for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init()
            where path.hasSuffix(".swift") {
                let text = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
                for line in text.split(separator: "\n") {
                    words.formUnion(
                        line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                            .drop { !keywords.contains($0) }.dropFirst())
                }
            }
        }
        return words
    }

    private static let keywords: Set<Substring> = [
        "case", "func", "var", "let", "struct", "actor", "class", "enum", "protocol", "public",
    ]
}
