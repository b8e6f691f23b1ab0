import Foundation
import ObjectModel
import SQLiteStore
import Stores
import Testing

/// Real stores as somebody sees them who has no model.
@Suite(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
struct InferenceTests {
    @Test func everyStoreOpensByWhatItsTablesTell() throws {
        var links = (found: 0, right: 0)
        for store in Corpus.stores {
            let scratch = try Scratch()
            let url = try store.copy(to: scratch)
            let inferred = try SQLiteRowStore.inferredModel(at: url)
            var options = SQLiteStoreOptions()
            (options.isReadOnly, options.ignoresVersioning) = (true, true)
            let opened = try SQLiteRowStore(url: url, model: inferred, options: options)
            #expect(!opened.layout.entities.isEmpty, "\(store)")
            for entity in opened.layout.entities {
                let query = RowQuery(entity: entity.number)
                let rows = try opened.rows(matching: query)
                #expect(try rows.count == opened.count(matching: query), "\(store) \(entity.name)")
                for row in rows.prefix(20) {
                    for slot in entity.toManys.indices {
                        _ = try opened.members(of: row.id, toMany: slot)
                    }
                }
            }
            for (_, model) in try store.knownModels(copy: url).prefix(1) {
                compare(inferred, model, store, &links)
            }
        }
        print("\(links.found) links inferred, \(links.right) as the model has them")
        // Where the model is known, hardly a guess leads elsewhere.
        #expect(links.found > 380 && Double(links.right) > 0.98 * Double(links.found))
    }

    /// Inheritance must agree; links are counted.
    private func compare(
        _ inferred: NSManagedObjectModel, _ model: NSManagedObjectModel, _ store: RealStore,
        _ links: inout (found: Int, right: Int)
    ) {
        let known = model.entitiesByName
        for (name, entity) in inferred.entitiesByName {
            guard let own = known[name] else { continue }
            #expect(entity.superentity?.name == own.superentity?.name, "\(store) \(name)")
        }
        for entity in inferred.entities {
            guard let own = known[entity.name ?? ""] else { continue }
            let family = [own] + model.entities.filter { $0.isKindOf(entity: own) }
            let real = family.flatMap { $0.relationshipsByName.values }
            for case let link as NSRelationshipDescription in entity.declaredProperties {
                links.found += 1
                // A number at the end may be the column's, told apart from another of its name.
                let stem = String(link.name.reversed().drop(while: \.isNumber).reversed())
                let twin =
                    real.first { $0.name.lowercased() == link.name }
                    ?? real.first { $0.name.lowercased() == stem }
                guard let destination = link.destinationEntity.flatMap({ known[$0.name ?? ""] }),
                    let target = twin?.destinationEntity,
                    target.isKindOf(entity: destination) || destination.isKindOf(entity: target)
                else {
                    print("\(store): \(entity.name ?? "").\(link.name) leads elsewhere")
                    continue
                }
                links.right += 1
            }
        }
    }
}
