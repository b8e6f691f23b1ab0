internal import Foundation
internal import Predicates

/// The objects that a mapping is followed for, a batch of them in memory where they come of a
/// request.
enum SourceObjects {
    case batched(BatchedObjects<NSManagedObject>)
    case list([NSManagedObject])

    init(of mapping: NSEntityMapping, _ manager: NSMigrationManager) throws {
        guard
            ![.addEntityMappingType, .removeEntityMappingType].contains(mapping.mappingType)
        else {
            self = .list([])
            return
        }
        guard let expression = mapping.sourceExpression else {
            guard let entity = manager.sourceEntity(for: mapping) else {
                self = .list([])
                return
            }
            let request = NSFetchRequest<NSManagedObject>(entity: entity)
            request.includesSubentities = false
            self = try Self.found(by: request, mapping, manager)
            return
        }
        var node = expression.node
        if case .function(FunctionName.fetch, let arguments) = node, let request = arguments.first {
            node = request
        }
        let variables: [String: Any?] = [
            NSMigrationManagerKey: manager, NSMigrationEntityMappingKey: mapping,
        ]
        let value = try Predicates.value(of: node, with: nil, variables: variables)
        if let request = value as? NSFetchRequest<NSManagedObject> {
            self = try Self.found(by: request, mapping, manager)
        } else {
            self = .list((listElements(of: value) ?? []).compactMap { $0 as? NSManagedObject })
        }
    }

    private static func found(
        by request: NSFetchRequest<NSManagedObject>, _ mapping: NSEntityMapping,
        _ manager: NSMigrationManager
    ) throws -> SourceObjects {
        if request.fetchBatchSize == 0 { request.fetchBatchSize = manager.batchSize }
        return .batched(try manager.sourceContext.batchedObjects(for: request))
    }

    var count: Int {
        switch self {
        case .batched(let objects): objects.count
        case .list(let objects): objects.count
        }
    }

    subscript(place: Int) -> NSManagedObject {
        switch self {
        case .batched(let objects): objects[place]
        case .list(let objects): objects[place]
        }
    }
}
