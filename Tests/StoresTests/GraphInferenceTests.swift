import Foundation
import ObjectModel
import Stores
import Testing

/// What a file's objects tell of a model that is not at hand.
@Suite struct GraphInferenceTests {
    private func object(
        _ entity: String, _ key: Int64, _ links: [(String, String, Int, [Int64])] = []
    ) -> StoredObject {
        var object = StoredObject(entity: entity, key: key)
        object.attributes = [
            StoredAttribute(name: "name", type: "string", value: .text("\(key)")),
            StoredAttribute(name: "size", type: "int32", value: .integer(key)),
        ]
        object.relationships = links.map { name, destination, maxCount, targets in
            var link = StoredRelationship(
                name: name, minCount: 0, maxCount: maxCount, destination: destination)
            link.targets = targets
            return link
        }
        return object
    }

    @Test func kindsInversesAndTypesAreSeen() throws {
        var graph = StoredGraph(identifier: UUID().uuidString)
        graph.objects = [
            object(
                "FOLDER", 102, [("parent", "ITEM", 1, []), ("children", "ITEM", 0, [103, 104])]),
            object("FOLDER", 103, [("parent", "ITEM", 1, [102]), ("children", "ITEM", 0, [105])]),
            object("LEAF", 104, [("parent", "ITEM", 1, [102])]),
            object("LEAF", 105, [("parent", "ITEM", 1, [103])]),
        ]
        let model = graph.inferredModel(spellings: ["Folder", "Item", "Leaf"])
        #expect(model.entities.map(\.name) == ["Folder", "Item", "Leaf"])
        let folder = try #require(model.entitiesByName["Folder"])
        #expect(folder.superentity?.name == "Item")
        #expect(model.entitiesByName["Leaf"]?.superentity?.name == "Item")
        // What all kinds have alike is declared once, above them.
        let item = try #require(model.entitiesByName["Item"])
        #expect(Set(item.declaredProperties.map(\.name)) == ["name", "size", "parent"])
        #expect(folder.declaredProperties.map(\.name) == ["children"])
        #expect(item.attributesByName["size"]?.attributeType == .integer32AttributeType)
        let parent = try #require(item.relationshipsByName["parent"])
        #expect(parent.inverseRelationship?.name == "children" && !parent.isToMany)
        #expect(folder.relationshipsByName["children"]?.inverseRelationship === parent)
    }

    @Test(arguments: GraphKind.allCases) func aFileOpensByWhatItTells(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        var random = RandomGraph(seed: 7, store: store)
        try random.fill()
        let graph = try kind.read(Data(contentsOf: scratch.file))
        #expect(!graph.objects.isEmpty)
        let model = graph.inferredModel(spellings: [])
        var options = GraphFileOptions()
        (options.isReadOnly, options.ignoresVersioning) = (true, true)
        let opened = try kind.open(scratch.file, model, options)
        let counts = try opened.layout.entities.map { entity in
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            return try opened.count(matching: query)
        }
        #expect(counts.reduce(0, +) == graph.objects.count)
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not at hand"), arguments: Corpus.xmlStores)
    func everyRealFileOpensByWhatItTells(url: URL) throws {
        let graph = try XMLRowStore.contents(at: url)
        let hashes = graph.metadata["NSStoreModelVersionHashes"] as? [String: Data] ?? [:]
        let model = graph.inferredModel(spellings: Array(hashes.keys))
        #expect(Set(model.entities.compactMap(\.name)) == Set(hashes.keys))
        var options = GraphFileOptions()
        (options.isReadOnly, options.ignoresVersioning) = (true, true)
        let store = try XMLRowStore(url: url, model: model, options: options)
        for entity in store.layout.entities where entity.entity.superentity == nil {
            let rows = try store.rows(matching: RowQuery(entity: entity.number))
            let names = ([entity.entity] + entity.entity.subentities).map { $0.name?.uppercased() }
            #expect(rows.count == graph.objects.filter { names.contains($0.entity) }.count)
        }
    }
}
