internal import Foundation
public import ObjectModel
internal import Predicates

// The model's stored fetch requests. Source: Apple, NSManagedObjectModel.
extension NSManagedObjectModel {
    /// The stored request of that name; nil when there is none, or its predicate cannot be read.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<
        any NSFetchRequestResult
    >? {
        fetchRequestTemplates[name].flatMap { request(of: $0, variables: [:]) }
    }

    /// The stored request with values in place of its variables.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplates[name].flatMap { request(of: $0, variables: variables) }
    }

    /// All stored requests.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        fetchRequestTemplates.compactMapValues { request(of: $0, variables: [:]) }
    }

    /// Stores a request under a name; nil removes the one that is there.
    ///
    /// What a model file has no place for is not kept: an offset, dictionary properties, stores.
    public func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        fetchRequestTemplates[name] = fetchRequestTemplate.map {
            FetchRequestTemplate(name: name, storing: $0)
        }
    }

    private func request(
        of template: FetchRequestTemplate, variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        template.request(variables: variables, in: entitiesByName)
    }
}

extension NSFetchedPropertyDescription {
    /// The request whose results are the property's value; `$FETCH_SOURCE` is the object and
    /// `$FETCHED_PROPERTY` this description. Source: Apple, NSFetchedPropertyDescription.
    public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get {
            let entities = entity.managedObjectModel?.entitiesByName ?? [:]
            return template?.request(variables: [:], in: entities)
        }
        set {
            let name = template?.name ?? FetchRequestTemplate.fetchedPropertyName
            template = newValue.map { FetchRequestTemplate(name: name, storing: $0) }
        }
    }
}

extension FetchRequestTemplate {
    /// The request as a model file keeps it: in names and texts.
    fileprivate init(name: String, storing request: NSFetchRequest<any NSFetchRequestResult>) {
        self.init(
            name: name, entityName: request.entityName ?? "",
            predicateText: request.predicate.map { node(of: $0).description })
        fetchLimit = request.fetchLimit
        fetchBatchSize = request.fetchBatchSize
        includesSubentities = request.includesSubentities
        includesPropertyValues = request.includesPropertyValues
        includesPendingChanges = request.includesPendingChanges
        returnsObjectsAsFaults = request.returnsObjectsAsFaults
        returnsDistinctResults = request.returnsDistinctResults
        resultType = request.resultType.rawValue
        sortKeys = (request.sortDescriptors ?? []).compactMap { descriptor in
            key(of: descriptor).map { key in
                let selector = key.comparison == .compare ? nil : key.comparison.rawValue
                return SortTerm(
                    key: key.path.joined(separator: "."), isAscending: key.ascending,
                    selector: selector)
            }
        }
    }

    /// The request with values in place of its variables; nil where its predicate cannot be read.
    fileprivate func request(
        variables: [String: Any], in entities: [String: NSEntityDescription]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entityName)
        request.entity = entities[entityName]
        if let predicateText {
            guard let parsed = try? NSPredicate.parse(predicateText) else { return nil }
            request.predicate = parsed.withSubstitutionVariables(variables)
        }
        request.fetchLimit = fetchLimit
        request.fetchBatchSize = fetchBatchSize
        request.includesSubentities = includesSubentities
        request.includesPropertyValues = includesPropertyValues
        request.includesPendingChanges = includesPendingChanges
        request.returnsObjectsAsFaults = returnsObjectsAsFaults
        request.returnsDistinctResults = returnsDistinctResults
        request.resultType = NSFetchRequestResultType(rawValue: resultType)
        request.sortDescriptors = sortKeys.isEmpty ? nil : sortKeys.map(\.descriptor)
        return request
    }
}

extension FetchRequestTemplate.SortTerm {
    /// The key as a descriptor.
    var descriptor: NSSortDescriptor {
        let comparison = selector.flatMap { SortComparison(rawValue: $0) } ?? .compare
        return NSSortDescriptor(key: key, ascending: isAscending, comparison: comparison)
    }
}
