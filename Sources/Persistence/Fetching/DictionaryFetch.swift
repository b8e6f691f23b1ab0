internal import Foundation
internal import ObjectModel

/// Makes dictionaries of chosen properties from the objects a query finds.
struct DictionaryFetch {
    let choice: FetchChoice

    func run(_ query: ObjectQuery, in context: NSManagedObjectContext) throws -> [Any] {
        guard (choice.values.grouping ?? []).isEmpty else {
            throw PersistenceErrors.unsupported(
                "Grouped dictionary results are not available; fetch the values and group them.")
        }
        let names = try names(for: query.entity)
        let objects = try context.objects(
            matching: query, includingPending: choice.flags.includesPendingChanges)
        var results: [NSDictionary] = []
        var seen = Set<NSDictionary>()
        for object in objects {
            let values = NSMutableDictionary()
            for name in names {
                if let value = value(at: name, of: object) { values[name] = value }
            }
            let result = NSDictionary(dictionary: values as? [AnyHashable: Any] ?? [:])
            if choice.flags.returnsDistinctResults && !seen.insert(result).inserted { continue }
            results.append(result)
        }
        return results
    }

    private func names(for entity: NSEntityDescription) throws -> [String] {
        guard let chosen = choice.values.properties, !chosen.isEmpty else {
            return entity.attributesByName.filter { !$0.value.isTransient }.keys.sorted()
        }
        return try chosen.map { choice in
            if let name = choice as? String { return name }
            if let property = choice as? NSPropertyDescription,
                property is NSAttributeDescription || property is NSRelationshipDescription
            {
                return property.name
            }
            throw PersistenceErrors.unsupported(
                "Only attributes and to-one relationships can be fetched as dictionary values; "
                    + "name them, or compute the expression from the results.")
        }
    }

    private func value(at path: String, of object: NSManagedObject) -> Any? {
        let value = object.value(forKeyPath: path)
        return (value as? NSManagedObject)?.objectID ?? value
    }
}
