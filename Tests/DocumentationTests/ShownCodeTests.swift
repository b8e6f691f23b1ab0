import CoreData
import Foundation
import Testing

/// All Swift that a document shows stands in a file of this target, or in a package of Examples.
@Suite struct ShownCodeTests {
    @Test(arguments: try Document.all()) func swiftIsCompiled(document: Document) throws {
        let compiled = try Self.compiled.get()
        for block in document.blocks where block.language == "swift" {
            #expect(
                compiled.contains { $0.contains(Self.plain(block.text)) },
                """
                \(document.path):\(block.line) shows Swift that nothing compiles; put it into \
                a file of Tests/DocumentationTests.
                """)
        }
    }

    @Test func whatNothingCompilesIsFound() throws {
        let compiled = try Self.compiled.get()
        #expect(compiled.contains { $0.contains("\nactor BookList {\n") })
        #expect(!compiled.contains { $0.contains(Self.plain("struct Book\("List") {}")) })
    }

    /// The list that docs/SWIFT.md shows.
    @Test func aListFollowsItsContext() async throws {
        let model = try NSManagedObjectModel.load(
            from: Document.root.appendingPathComponent("Tools/demo-model/Library.xcdatamodel"))
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        ]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        let (counts, told) = AsyncStream<Int>.makeStream()
        let list = BookList(told)
        let task = Task { try await list.follow(context) }
        var iterator = counts.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        for count in 1...2 {
            await context.perform {
                _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            }
            #expect(await iterator.next() == count)
        }
        task.cancel()
        try await task.value
    }

    private static let compiled = Result {
        try ["Tests/DocumentationTests", "Examples"].flatMap(swift).map(plain)
    }

    /// The Swift files below a folder, build folders apart.
    private static func swift(below area: String) throws -> [String] {
        let folder = Document.root.appendingPathComponent(area).path
        return try (FileManager.default.enumerator(atPath: folder) ?? .init())
            .compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    }

    /// Between line ends, without the indentation, which pieces of a file do not have.
    private static func plain(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return "\n" + lines.map { $0.drop { $0 == " " } }.joined(separator: "\n") + "\n"
    }
}
