/// What came of a story that was played.
public struct StoryReport: Sendable {
    public let title: String
    /// The store's rule under which it was played, where several are compared.
    public let rule: String?
    /// The devices and the service, in the order of the story.
    public let holders: [String]
    public internal(set) var steps: [StoryStepReport] = []

    /// Whether all expectations held and nothing went wrong.
    public var holds: Bool { failures.isEmpty }

    /// The steps that failed.
    public var failures: [StoryStepReport] { steps.filter { $0.failure != nil } }
}

/// What one step came to.
public struct StoryStepReport: Sendable {
    public let line: Int
    public let text: String
    /// Whether it expects something.
    public let isExpectation: Bool
    /// What the step did, and what was logged, in a few words each.
    public var notes: [String] = []
    /// Who holds something else than before, and all that it holds.
    public var changes: [(holder: String, objects: [StoryHeldObject])] = []
    /// Why the step failed; nil where it did not.
    public var failure: String?

    init(_ step: StoryStep) {
        line = step.line
        text = step.text
        if case .expect = step.action { isExpectation = true } else { isExpectation = false }
    }
}

/// One object as a device or the service holds it.
public struct StoryHeldObject: Sendable, Equatable {
    /// By what the story calls it; several where objects became one.
    public let handles: [String]
    public let entity: String
    /// The properties that have a value, by name, as a story writes them.
    public let values: [(property: String, text: String)]

    public static func == (one: StoryHeldObject, other: StoryHeldObject) -> Bool {
        one.handles == other.handles && one.entity == other.entity
            && one.values.map(\.property) == other.values.map(\.property)
            && one.values.map(\.text) == other.values.map(\.text)
    }

    /// In one line: `n: title "Milk", views 3`.
    public var text: String {
        let name = handles.joined(separator: "=")
        let facts = values.map { "\($0.property) \($0.text)" }
        return facts.isEmpty ? name : "\(name): \(facts.joined(separator: ", "))"
    }
}
