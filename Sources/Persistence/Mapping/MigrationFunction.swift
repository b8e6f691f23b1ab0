internal import enum Predicates.ExpressionNode
internal import enum Predicates.FunctionName

/// What the expressions of mapping models ask of `$manager`; raw values are Apple's.
enum MigrationFunction: String {
    case ofMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    case sourcesOfMapping = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    case ofRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    case fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"

    /// The call with these arguments, as `FUNCTION($manager, …)` says it.
    func node(_ arguments: [ExpressionNode]) -> ExpressionNode {
        .function(
            FunctionName.perform,
            [.variable(NSMigrationManagerKey), .constant(rawValue)] + arguments)
    }

    /// What a path leads to from the source object.
    static func ofSource(_ path: [String]) -> ExpressionNode {
        .path(from: .variable(NSMigrationSourceObjectKey), path)
    }
}
