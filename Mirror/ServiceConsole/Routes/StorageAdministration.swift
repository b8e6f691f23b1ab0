internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// What an administrator asks for about where records and assets are.
enum StorageAdministration {
    case backups
    case backUp
    case checkBackup(String)
    case objects
    case removeObjects

    /// nil for a path or a method of something else.
    init?(_ method: String, _ words: [String]) {
        switch (method, words.first, words.count) {
        case ("GET", "backups", 1): self = .backups
        case ("POST", "backups", 1): self = .backUp
        case ("POST", "backups", 3) where words[2] == "check": self = .checkBackup(words[1])
        case ("GET", "objects", 1): self = .objects
        case ("DELETE", "objects", 1): self = .removeObjects
        default: return nil
        }
    }

    /// Throws what the service refuses.
    func perform(_ desk: ConsoleDesk, _ session: ConsoleSession) throws -> HTTPResponse {
        let actor = session.actor
        if case .objects = self { return try .json(of: ObjectsAnswer(desk.service)) }
        if case .removeObjects = self {
            return try .json(of: ObjectsAnswer(desk.service, removedBy: actor))
        }
        guard let backups = desk.backups else {
            throw RecordError(.badRequest, "This service has no folder for backups.")
        }
        switch self {
        case .backUp:
            try backups.begin(desk.service.administration(as: actor))
        case .checkBackup(let name): try backups.check(name)
        case .backups, .objects, .removeObjects: break
        }
        return try .json(of: backups.all())
    }
}

/// What a bucket of assets has too much, and too little.
struct ObjectsAnswer: Encodable {
    struct Finding: Encodable {
        var name: String
        var bytes: Int64
        /// Milliseconds since 1970; nil for one that is missing.
        var modified: Int64?
    }

    var objects: Int
    /// All there are, of which the first are named.
    var orphanCount: Int
    var orphanBytes: Int64
    /// Those that nothing names either, and that are too young to say so.
    var young: Int
    var missingCount: Int
    /// Of those that nothing names, where that was asked for.
    var removed: Int
    var orphans: [Finding] = []
    var missing: [Finding] = []

    private static let namedMax = 1_000

    init(_ service: RecordService, removedBy remover: String? = nil) throws {
        var (orphans, missing) = ([Finding](), [Finding]())
        let report = try service.compareObjects(removedBy: remover) { finding in
            switch finding {
            case .orphan(let object) where orphans.count < Self.namedMax:
                orphans.append(
                    Finding(
                        name: object.name, bytes: object.size,
                        modified: object.modified.milliseconds))
            case .missing(let object) where missing.count < Self.namedMax:
                missing.append(Finding(name: object.name, bytes: object.size))
            case .orphan, .missing: break
            }
        }
        objects = report.objects
        orphanCount = report.orphans
        orphanBytes = report.bytes
        young = report.young
        missingCount = report.missing
        removed = report.removed
        self.orphans = orphans
        self.missing = missing
    }
}
