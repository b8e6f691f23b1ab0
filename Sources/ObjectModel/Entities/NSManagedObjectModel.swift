public import Foundation

/// The entities of a program's data, with their configurations and stored fetch requests.
///
/// May be changed until a coordinator uses it. Source: Apple, NSManagedObjectModel.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription; `freezing` guards the one change made while in use.
    /// All entities. Setting tells each entity its model and finds relationship ends given by name.
    open var entities: [NSEntityDescription] = [] {
        didSet {
            for former in oldValue where former.place.model === self { former.place.model = nil }
            for entity in entities { entity.place.model = self }
            findAwaitedEnds()
        }
    }
    /// Entity names by configuration name. The default configuration (all entities) is not listed.
    public var configurationMembers: [String: [String]] = [:]
    /// Stored requests by name.
    public var fetchRequestTemplates: [String: FetchRequestTemplate] = [:]
    /// The developer's names of this version; they decide nothing.
    open var versionIdentifiers: Set<AnyHashable> = []
    /// Localized texts of error messages, by key.
    open var localizationDictionary: [String: String]?
    /// What the model file's head says about its editor (tools version, language, platform), by
    /// the file's own names; kept so that writing the model back loses nothing.
    public var documentFacts: [String: String] = [:]
    /// What the model's file says and this package cannot read, a phrase each. Only models of Xcode
    /// 3 have such parts; other files are read whole or refused.
    public var unreadParts: [String] = []
    /// What the model's file says that is no proper value and was read as Apple's compiler reads
    /// it, a phrase each with its place: `NO` as an integer's default is 0.
    public var readingNotes: [String] = []
    private var frozenEntities: [String: NSEntityDescription]?
    private var frozenHashes: [String: Data]?
    private let freezing = NSLock()

    public required override init() { super.init() }

    /// Models are equal where their entities, configurations and stored requests are. Cost: one
    /// SHA-256 per property and entity of both, until a coordinator uses them.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return other === self
            || (configurationMembers == other.configurationMembers
                && fetchRequestTemplates == other.fetchRequestTemplates
                && entities.count == other.entities.count
                && entitiesByName == other.entitiesByName)
    }

    open override var hash: Int { entities.count }

    /// Entities by name. Cost: O(entities) until a coordinator uses the model, then O(1).
    open var entitiesByName: [String: NSEntityDescription] {
        frozenEntities ?? gatheredEntities()
    }

    /// The names of the configurations, sorted.
    open var configurations: [String] { configurationMembers.keys.sorted() }

    /// Whether the model file says that the model is mirrored through CloudKit.
    public var isUsedWithCloudKit: Bool { documentFacts["usedWithCloudKit"] == "YES" }

    /// The entities of a configuration; all of them for nil, nil for an unknown name.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else {
            return entities
        }
        guard let names = configurationMembers[configuration] else { return nil }
        let byName = entitiesByName
        return names.compactMap { byName[$0] }
    }

    /// Makes `entities` the members of a configuration.
    open func setEntities(
        _ entities: [NSEntityDescription], forConfigurationName configuration: String
    ) {
        configurationMembers[configuration] = entities.compactMap(\.name)
    }

    /// Gathers every entity's dictionaries once, for a model that is now in use and changes no
    /// more. Calling it again does nothing. Cost: O(properties). Any thread.
    package func freeze() {
        freezing.lock()
        defer { freezing.unlock() }
        guard frozenEntities == nil else { return }
        for entity in entities { entity.place.lookup = EntityLookup(entity) }
        frozenEntities = gatheredEntities()
        frozenHashes = Self.hashes(of: entities)
    }

    /// Whether the model is in use and changes no more.
    package var isFrozen: Bool { frozenEntities != nil }

    /// The version hashes of a configuration's entities (nil: all of them) by name. Cost: one
    /// SHA-256 per property and entity until the model is frozen, then O(entities).
    package func versionHashes(of entities: [NSEntityDescription]) -> [String: Data] {
        guard let frozenHashes else { return Self.hashes(of: entities) }
        let names = Set(entities.compactMap(\.name))
        return frozenHashes.filter { names.contains($0.key) }
    }

    private func gatheredEntities() -> [String: NSEntityDescription] {
        Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Apple's name for the configuration of all entities.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"
}
