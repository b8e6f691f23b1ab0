import CoreData
import Foundation

/// An example of a program's own atomic store: a library in a file of comma-separated values.
///
///     store,<uuid>
///     Author,1,Ada,1815
///     Book,2,Notes,12.50,1
final class CSVStore: NSAtomicStore, @unchecked Sendable {
    // @unchecked: has no state of its own.
    static let storeType = "Library CSV"
    struct Malformed: Error { let line: String }
    struct Refused: Error {}

    override func load() throws {
        guard let url, FileManager.default.fileExists(atPath: url.path) else { return }
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        var authors: [String: NSAtomicStoreCacheNode] = [:]
        for line in lines {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
                .map(String.init)
            switch fields.first {
            case "store": metadata = [NSStoreUUIDKey: fields[1]]
            case "Author" where fields.count == 4:
                let node = try node("Author", fields[1])
                node.setValue(fields[2], forKey: "name")
                node.setValue(Int(fields[3]), forKey: "born")
                authors[fields[1]] = node
                addCacheNodes([node])
            case "Book" where fields.count == 5:
                let node = try node("Book", fields[1])
                node.setValue(fields[2], forKey: "title")
                node.setValue(NSDecimalNumber(string: fields[3]), forKey: "price")
                node.setValue(authors[fields[4]], forKey: "author")
                addCacheNodes([node])
            default: throw Malformed(line: String(line))
            }
        }
    }

    private func node(_ entity: String, _ number: String) throws -> NSAtomicStoreCacheNode {
        let model = persistentStoreCoordinator?.managedObjectModel
        guard let entity = model?.entitiesByName[entity], let number = Int(number) else {
            throw Malformed(line: number)
        }
        return NSAtomicStoreCacheNode(
            objectID: objectID(for: entity, withReferenceObject: number))
    }

    override func save() throws {
        guard let url, options?["refuses"] == nil else { throw Refused() }
        var lines = ["store,\(identifier ?? "")"]
        let nodes = cacheNodes().map { ($0, referenceObject(for: $0.objectID) as? Int ?? 0) }
        for (node, number) in nodes.sorted(by: { $0.1 < $1.1 }) {
            func text(_ key: String) -> String { node.value(forKey: key).map { "\($0)" } ?? "" }
            if node.objectID.entity.name == "Author" {
                lines.append("Author,\(number),\(text("name")),\(text("born"))")
            } else {
                let author = node.value(forKey: "author") as? NSAtomicStoreCacheNode
                let reference = author.map { "\(referenceObject(for: $0.objectID))" } ?? ""
                lines.append("Book,\(number),\(text("title")),\(text("price")),\(reference)")
            }
        }
        let authorsFirst =
            lines.filter { !$0.hasPrefix("Book") } + lines.filter { $0.hasPrefix("Book") }
        try Data(authorsFirst.map { $0 + "\n" }.joined().utf8).write(to: url, options: .atomic)
    }
}
