internal import Foundation
public import ObjectModel
internal import Predicates

// The model's stored fetch requests.
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

    private func request(
        of template: FetchRequestTemplate, variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: template.entityName)
        if let text = template.predicateText {
            guard let parsed = try? NSPredicate.parse(text) else { return nil }
            request.predicate = parsed.withSubstitutionVariables(variables)
        }
        request.fetchLimit = template.fetchLimit
        request.fetchBatchSize = template.fetchBatchSize
        request.includesSubentities = template.includesSubentities
        request.includesPropertyValues = template.includesPropertyValues
        request.includesPendingChanges = template.includesPendingChanges
        request.returnsObjectsAsFaults = template.returnsObjectsAsFaults
        request.returnsDistinctResults = template.returnsDistinctResults
        request.resultType = NSFetchRequestResultType(rawValue: template.resultType)
        return request
    }
}
