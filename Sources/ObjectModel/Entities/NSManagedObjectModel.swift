public import Foundation

/// The entities of a program's data, with their configurations and stored fetch requests.
///
/// May be changed until a coordinator uses it. Source: Apple, NSManagedObjectModel.
open class NSManagedObjectModel: NSObject, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// All entities. Setting resolves relationship ends and tells each entity its model.
    open var entities: [NSEntityDescription] = [] {
        didSet { for entity in entities { entity.managedObjectModel = self } }
    }
    /// Entity names by configuration name. The default configuration (all entities) is not listed.
    public var configurationMembers: [String: [String]] = [:]
    public var fetchRequestTemplates: [String: FetchRequestTemplate] = [:]
    open var versionIdentifiers: Set<AnyHashable> = []

    public override init() { super.init() }

    open var entitiesByName: [String: NSEntityDescription] {
        Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
    }

    open var configurations: [String] { configurationMembers.keys.sorted() }

    /// The entities of a configuration; all of them for nil or an unknown name's empty answer.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != "PF_DEFAULT_CONFIGURATION_NAME" else { return entities }
        guard let names = configurationMembers[configuration] else { return nil }
        let byName = entitiesByName
        return names.compactMap { byName[$0] }
    }

    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        configurationMembers[configuration] = entities.compactMap(\.name)
    }
}
