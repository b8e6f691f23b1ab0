public import Foundation
public import MirrorEngine
public import ObjectModel

/// A conflict told in plain lines: devices, edits, rounds, faults, and what is expected of them.
///
/// docs/STORIES.md has the format. A story is a value; `StoryRun` plays it.
public struct Story: @unchecked Sendable {
    // @unchecked: models are frozen when the story was read.
    public var title: String
    /// The models by name; the one without a name of its own is "".
    public var models: [String: NSManagedObjectModel]
    public var devices: [StoryDevice]
    /// The rules for all devices that name none of their own.
    public var policy: MergePolicy
    /// The store's rules that are compared: the story is played once with each. Empty: once.
    public var comparedRules: [String]
    /// Bytes of a value above which it travels as an asset; nil for as many as devices really have.
    public var assetValueBytesMax: Int?
    /// Whether all devices have the public database, in which each user makes records, and changes
    /// their own.
    public var isPublic = false
    public var steps: [StoryStep]

    /// A story without steps over one model.
    public init(
        title: String, model: NSManagedObjectModel, devices: [StoryDevice],
        policy: MergePolicy = MergePolicy()
    ) {
        self.title = title
        models = ["": model]
        self.devices = devices
        self.policy = policy
        comparedRules = []
        steps = []
    }

    /// Reads a story. `folder` is where files of models are looked for. Throws `StoryError` with
    /// the number of the line.
    public init(text: String, folder: URL) throws {
        var reader = StoryReader(folder: folder)
        self = try reader.read(text)
    }
}

/// A device of a story, and what is said of it at the beginning.
public struct StoryDevice: Sendable, Equatable {
    public var name: String
    /// The rule of its store where it has one of its own.
    public var rule: String?
    public var deletion: DeletionRule?
    /// Which of the story's models it opens its store with.
    public var model = ""
    /// Seconds by which its clock is ahead.
    public var clockSeconds = 0.0
    /// Whether it has the key of sealed values; all others have one and the same.
    public var hasKey = true
    /// The device whose file it works on, as a second process.
    public var sharedStore: String?
    /// Whose device it is, where it is another user's than that of the others: its store waits
    /// until it takes part in a share, except in the public database.
    public var user: String?

    /// A device with the story's own rules and model.
    public init(_ name: String) { self.name = name }
}

/// One line of a story that does or expects something.
public struct StoryStep: Sendable, Equatable {
    /// Where it stands; 0 in a story that nobody wrote.
    public var line: Int
    /// As it is written.
    public var text: String
    public var action: StoryAction

    /// A step that stands in no file.
    public init(_ action: StoryAction, line: Int = 0, text: String? = nil) {
        self.action = action
        self.line = line
        self.text = text ?? StoryWriting.text(of: action)
    }
}

/// What a step does.
public enum StoryAction: Sendable, Equatable {
    case device([String], StoryDeed)
    /// Each device runs one round, in order.
    case everyoneSyncs
    /// Rounds until nothing moves any more.
    case everyoneSettles
    case service(StoryServiceDeed)
    case pass(seconds: Double)
    case expect(StoryExpectation)
}

/// What a device does, or what befalls it.
public enum StoryDeed: Sendable, Equatable {
    case insert(entity: String, handle: String, values: [StoryAssignment])
    case set(StoryProperty, StoryLiteral)
    /// A number is added to an attribute, objects become members of a relationship.
    case add([StoryLiteral], StoryProperty)
    case remove([String], StoryProperty)
    case move(String, StoryPlace, StoryProperty)
    case delete(String)
    /// The object comes back whose deletion the service refused.
    case takeBackDeletion(of: String)
    /// Edits wait for `save` from now on.
    case begin
    case save
    case undo
    /// What was not saved is forgotten.
    case takeBack
    case sync
    case goOffline
    case comeOnline
    case loseNextRequest
    case loseNextAnswer
    case crash
    /// The device dies in its next round once the service has its records, before it knows.
    case crashInNextSync
    case backUp
    case restore
    case becomeCopy(of: String)
    case reset
    case open(model: String)
    case decide(StoryProperty, ConflictSide)
    case setClock(seconds: Double)
    case sharing(StorySharing)
    /// What is sent from now on; empty for everything.
    case choose([StoryChoice])
}

/// What is done about shares, which a story calls by names of its own.
public enum StorySharing: Sendable, Equatable {
    /// Objects, or the whole zone for none, and all that is linked with them.
    case share([String], as: String)
    /// Lets a user take part, or changes what one may do.
    case invite(user: String, to: String, mayWrite: Bool)
    case revoke(String, from: String)
    case accept(String)
    case leave(String)
    case end(String)

    var share: String {
        switch self {
        case .share(_, let name), .invite(_, let name, _), .revoke(let name, _), .accept(let name),
            .leave(let name), .end(let name):
            name
        }
    }
}

/// Objects of an entity that a device sends: all, or those that meet a predicate.
public struct StoryChoice: Sendable, Equatable {
    public var entity: String
    public var predicate: String?

    /// All objects of an entity where there is no predicate.
    public init(_ entity: String, where predicate: String? = nil) {
        self.entity = entity
        self.predicate = predicate
    }
}

/// What befalls the service.
public enum StoryServiceDeed: String, Sendable, Equatable {
    case backUp, restore, lose, deleteZone
}

/// `handle.property`.
public struct StoryProperty: Sendable, Equatable {
    public var handle: String
    public var name: String

    /// A property of the object that a story calls `handle`.
    public init(_ handle: String, _ name: String) {
        self.handle = handle
        self.name = name
    }

    var text: String { "\(handle).\(name)" }
}

/// A value as a story writes it; what it becomes depends on the property.
public enum StoryLiteral: Sendable, Equatable {
    case nothing
    /// In quotes.
    case text(String)
    /// A number, a date, true or false, or an object's handle.
    case word(String)
}

/// `property value`.
public struct StoryAssignment: Sendable, Equatable {
    public var property: String
    public var value: StoryLiteral

    /// One value of a new object.
    public init(_ property: String, _ value: StoryLiteral) {
        self.property = property
        self.value = value
    }
}

/// Where a member of an ordered list is moved.
public enum StoryPlace: Sendable, Equatable {
    case start, end
    case before(String)
    case after(String)
}

/// What is expected, where.
public struct StoryExpectation: Sendable, Equatable {
    public enum Fact: Sendable, Equatable {
        case value(StoryProperty, [StoryLiteral])
        case isThere([String])
        case isGone([String])
        /// Handles that stand for one object.
        case isOne(String, String)
        case count(Int, entity: String)
        case agreement
        case inSync([String], Bool)
        case logged(StoryProperty?, handle: String?, rule: String?)
        case nothingLogged
        case waits(StoryProperty)
        /// The step before was refused by the model's own rules or by the app.
        case refused
        /// The step before told something with these words in it.
        case told(String)
    }

    public var fact: Fact
    /// The devices, or `service`; empty for all devices.
    public var holders: [String]
    /// It counts only where the story is played with this rule.
    public var rule: String?

    /// What holds on the devices `holders`, or on all.
    public init(_ fact: Fact, on holders: [String] = [], under rule: String? = nil) {
        self.fact = fact
        self.holders = holders
        self.rule = rule
    }

    /// What the service is called among the holders.
    public static let service = "service"
}

/// What is wrong with a story, and in which line.
public struct StoryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Counted from 1; 0 where it is the whole.
    public var line: Int
    public let message: String
    public let hint: String?

    init(_ message: String, _ hint: String? = nil, line: Int = 0) {
        self.message = message
        self.hint = hint
        self.line = line
    }

    public var description: String { line > 0 ? "line \(line): \(message)" : message }

    func at(_ line: Int) -> StoryError {
        var error = self
        if error.line == 0 { error.line = line }
        return error
    }
}
