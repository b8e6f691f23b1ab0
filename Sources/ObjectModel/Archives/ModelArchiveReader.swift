internal import Foundation

/// Reads a compiled model: a `.mom`, or the model a store keeps in `Z_MODELCACHE`, inflated. The
/// archives of Xcode 3's editor are handed on to their own reader.
struct ModelArchiveReader {
    private let archive: KeyedArchive
    private var readers: [ArchivedEntityReader] = []
    private var places: [String: Int] = [:]

    /// The model in `data`; `file` is its name in errors.
    static func model(in data: Data, file: String) throws -> NSManagedObjectModel {
        let archive = try KeyedArchive(data, file: file)
        let model = try model(in: archive)
        try archive.checkBudget()
        return model
    }

    private static func model(in archive: KeyedArchive) throws -> NSManagedObjectModel {
        let root = try archive.root()
        if root.className == LegacyModelReader.rootClassName {
            return try LegacyModelReader(root: root).model()
        }
        var reader = ModelArchiveReader(archive: archive)
        return try reader.model()
    }

    private init(archive: KeyedArchive) { self.archive = archive }

    private mutating func model() throws -> NSManagedObjectModel {
        let root = try archive.root()
        guard root.className == "NSManagedObjectModel" else {
            throw ForeignFile.refusal(root)
        }
        try readEntities(root)
        try linkParents()
        try readProperties()
        try linkEnds()
        let model = NSManagedObjectModel()
        model.entities = readers.map(\.entity)
        for identifier in root.list("NSVersionIdentifiers") {
            if let text = identifier?.string { model.versionIdentifiers.insert(text) }
        }
        for (name, members) in root.object("NSConfigurations")?.entries ?? [] {
            guard let name = name.string, name != NSManagedObjectModel.defaultConfigurationName
            else {
                continue
            }
            model.configurationMembers[name] = (members.object?.members ?? []).compactMap {
                $0?.string ?? $0?.object?.string("NSEntityName")
            }
        }
        for (name, request) in root.object("NSFetchRequestTemplates")?.entries ?? [] {
            guard let name = name.string, let request = request.object else { continue }
            model.fetchRequestTemplates[name] = ArchivedPropertyReader.fetchRequest(
                request, named: name)
        }
        return model
    }

    private mutating func readEntities(_ root: ArchivedObject) throws {
        let entries = root.object("NSEntities")?.entries ?? []
        readers = try entries.map { entry in
            guard let object = entry.value.object else {
                throw archive.broken("an entity is missing")
            }
            return try ArchivedEntityReader(object)
        }
        readers.sort { VersionHashing.precedes($0.entity.name ?? "", $1.entity.name ?? "") }
        for (place, reader) in readers.enumerated() {
            let name = reader.entity.name ?? ""
            guard places.updateValue(place, forKey: name) == nil else {
                throw archive.broken("two entities are named “\(name)”")
            }
        }
    }

    // MARK: Inheritance

    private func linkParents() throws {
        var children: [String: [NSEntityDescription]] = [:]
        for reader in readers {
            guard let parent = try parentName(of: reader) else { continue }
            children[parent, default: []].append(reader.entity)
            var ancestor: String? = parent
            for step in readers.indices {
                guard step < ModelBounds.ancestorsMax else {
                    throw ModelBounds(file: archive.file).tooDeep
                }
                guard let current = ancestor, let place = places[current] else { break }
                guard readers[place].entity !== reader.entity else {
                    throw ModelFileError(
                        .inheritanceCircle, file: archive.file,
                        "the entity “\(reader.entity.name ?? "")” inherits from itself")
                }
                ancestor = try parentName(of: readers[place])
            }
        }
        for (parent, entities) in children {
            if let place = places[parent] { readers[place].entity.subentities = entities }
        }
    }

    private func parentName(of reader: ArchivedEntityReader) throws -> String? {
        guard let parent = reader.object.object("NSSuperentity") else { return nil }
        guard let name = parent.string("NSEntityName"), places[name] != nil else {
            throw archive.broken("the parent of “\(reader.entity.name ?? "")” is missing")
        }
        return name
    }

    /// Parents first, so that each entity knows what it inherits.
    private mutating func readProperties() throws {
        var inherited = [[String: ArchivedObject]](repeating: [:], count: readers.count)
        var queue = readers.indices.filter { readers[$0].entity.superentity == nil }
        var bounds = ModelBounds(file: archive.file)
        while let place = queue.popLast() {
            try readers[place].readProperties(inherited: inherited[place])
            try bounds.count(inherited[place].count + readers[place].sources.count)
            let passedOn = inherited[place].merging(readers[place].sources) { _, own in own }
            for child in readers[place].entity.subentities {
                guard let childPlace = places[child.name ?? ""] else { continue }
                inherited[childPlace] = passedOn
                queue.append(childPlace)
            }
        }
    }

    // MARK: Ends

    private func linkEnds() throws {
        var finder = PropertyFinder()
        for reader in readers {
            for property in reader.entity.declaredProperties {
                guard let relationship = property as? NSRelationshipDescription,
                    let source = reader.sources[property.name]
                else { continue }
                try link(relationship, source, &finder)
            }
        }
    }

    private func link(
        _ relationship: NSRelationshipDescription, _ source: ArchivedObject,
        _ finder: inout PropertyFinder
    ) throws {
        let name =
            source.string("_NSDestinationEntityName")
            ?? source.object("NSDestinationEntity")?.string("NSEntityName")
        guard let name else { return }
        guard let place = places[name] else {
            throw archive.broken(
                "the relationship “\(relationship.name)” leads to “\(name)”, which is missing")
        }
        let destination = readers[place].entity
        relationship.destinationEntity = destination
        let inverse = source.object("NSInverseRelationship")
        guard
            let back = source.string("_NSInverseRelationshipName")
                ?? inverse?.string("NSPropertyName")
        else { return }
        let holder = inverse?.object("NSEntity")?.string("NSEntityName").flatMap { places[$0] }
        let candidates = [holder.map { readers[$0].entity }, destination].compactMap { $0 }
        relationship.inverseRelationship =
            candidates.compactMap {
                finder.property(named: back, in: $0) as? NSRelationshipDescription
            }.first
        guard relationship.inverseRelationship != nil else {
            throw archive.broken("the inverse “\(back)” of “\(relationship.name)” is missing")
        }
    }
}
