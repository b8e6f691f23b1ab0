import CoreData
import Foundation
import Platform

/// A fake of a web service: resources by path, and a log of what was asked.
final class FakeService: @unchecked Sendable {
    // @unchecked: `state` has a lock.
    struct Resource {
        var values: [String: String]
        var version: UInt64
    }

    struct State {
        var resources: [String: Resource] = [:]
        var requests: [String] = []
        var isDown = false
        var lastNumber = 0
        /// Whether a change makes another version.
        var countsVersions = true
    }

    struct Unreachable: Error {}
    struct NotFound: Error {}

    let state = Lock(State())

    private func ask<Value>(_ request: String, _ answer: (inout State) throws -> Value) throws
        -> Value
    {
        try state.withLock { state in
            guard !state.isDown else { throw Unreachable() }
            state.requests.append(request)
            return try answer(&state)
        }
    }

    func list(_ kind: String) throws -> [String] {
        try ask("LIST \(kind)") { $0.resources.keys.filter { $0.hasPrefix(kind) }.sorted() }
    }

    func get(_ path: String) throws -> Resource {
        try ask("GET \(path)") { state in
            guard let found = state.resources[path] else { throw NotFound() }
            return found
        }
    }

    func put(_ path: String, _ values: [String: String]) throws {
        try ask("PUT \(path)") { state in
            let version = state.countsVersions ? (state.resources[path]?.version ?? 0) + 1 : 5
            state.resources[path] = Resource(values: values, version: version)
        }
    }

    func delete(_ path: String) throws {
        try ask("DELETE \(path)") { $0.resources[path] = nil }
    }

    func post(_ kind: String) throws -> String {
        try ask("POST \(kind)") { state in
            state.lastNumber += 1
            return "\(kind)/\(state.lastNumber)"
        }
    }

    /// What was asked since the last look.
    func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }
}

/// An example of a program's own incremental store: a library behind a web service.
final class RESTStore: NSIncrementalStore, @unchecked Sendable {
    // @unchecked: `service`, `counts` and `locked` have locks.
    static let storeType = "Library REST"
    static let services = Lock<[URL: FakeService]>([:])
    let counts = Lock((registered: 0, unregistered: 0))
    /// The paths of the last save's locked objects.
    let locked = Lock<[String]>([])
    private let service: FakeService

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
        configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
    ) {
        service = Self.services.withLock { $0[url] } ?? FakeService()
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: "library", NSStoreTypeKey: Self.storeType]
    }

    override func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any {
        if let save = request as? NSSaveChangesRequest { return try self.save(save) }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>,
            let entity = fetch.entity, let name = entity.name
        else { throw FakeService.NotFound() }
        // The service knows no predicates: all objects are looked at here.
        let ids = try service.list(name).map { newObjectID(for: entity, referenceObject: $0) }
        let objects = ids.compactMap { context?.object(with: $0) }
        let matching = objects.filter { fetch.predicate?.evaluate(with: $0) ?? true }
        let sorted = matching.sorted { first, second in
            for descriptor in fetch.sortDescriptors ?? [] {
                let order = descriptor.compare(first, to: second)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return false
        }
        let rest = sorted.dropFirst(fetch.fetchOffset)
        let found = Array(fetch.fetchLimit > 0 ? rest.prefix(fetch.fetchLimit) : rest)
        return fetch.resultType == .countResultType ? [NSNumber(value: found.count)] : found
    }

    private func save(_ request: NSSaveChangesRequest) throws -> Any {
        let guarded = (request.lockedObjects ?? []).map { path($0.objectID) }.sorted()
        locked.withLock { $0 = guarded }
        for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
            var values: [String: String] = [:]
            for name in object.entity.attributesByName.keys {
                values[name] = object.value(forKey: name).map { "\($0)" }
            }
            if let author = (object.entity.name == "Book" ? object.value(forKey: "author") : nil)
                as? NSManagedObject
            {
                values["author"] = path(author.objectID)
            }
            try service.put(path(object.objectID), values)
        }
        for object in request.deletedObjects ?? [] { try service.delete(path(object.objectID)) }
        return []
    }

    private func path(_ id: NSManagedObjectID) -> String {
        referenceObject(for: id) as? String ?? ""
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let found: FakeService.Resource
        do {
            found = try service.get(path(objectID))
        } catch is FakeService.NotFound {
            let code = NSManagedObjectReferentialIntegrityError
            throw NSError(domain: NSCocoaErrorDomain, code: code)
        }
        var values: [String: Any] = [:]
        for (key, text) in found.values {
            switch key {
            case "born": values[key] = Int(text)
            case "price": values[key] = NSDecimalNumber(string: text)
            case "author": values[key] = try id("Author", text)
            default: values[key] = text
            }
        }
        return NSIncrementalStoreNode(
            objectID: objectID, withValues: values, version: found.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
    ) throws -> Any {
        guard relationship.isToMany else { return NSNull() }
        let own = path(objectID)
        return try service.list("Book").filter { try service.get($0).values["author"] == own }
            .map { try id("Book", $0) }
    }

    private func id(_ entity: String, _ path: String) throws -> NSManagedObjectID {
        guard
            let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity]
        else { throw FakeService.NotFound() }
        return newObjectID(for: entity, referenceObject: path)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        try array.map {
            newObjectID(for: $0.entity, referenceObject: try service.post($0.entity.name ?? ""))
        }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        counts.withLock { $0.registered += objectIDs.count }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        counts.withLock { $0.unregistered += objectIDs.count }
    }
}
