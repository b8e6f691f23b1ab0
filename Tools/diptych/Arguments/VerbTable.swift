/// The verbs there are.
enum VerbTable {
    /// Whether a verb is asked for what it prints, so that `--quiet` leaves it; the others only
    /// tell what they did.
    static func answers(_ name: String) -> Bool {
        [
            "conflicts", "events", "trace", "verify", "history", "inspect", "export", "model",
            "key", "scenario", "simulate", "service", "completion", "share",
        ].contains(name)
    }

    static let verbs: [any Verb.Type] = [
        Sync.self, StatusVerb.self, ShareVerb.self, Conflicts.self, Events.self, Trace.self,
        Verify.self,
        Reset.self, SignIn.self, Serve.self, ServiceVerb.self,
        Inspect.self, History.self, Create.self, EditStore.self, Export.self, ImportObjects.self,
        Convert.self, Migrate.self, ModelVerb.self, KeyVerb.self, Scenario.self, Simulate.self,
        Completion.self,
    ]

    static var manuals: [Manual] { verbs.map { $0.manual } }

    static func verb(named name: String) -> (any Verb.Type)? {
        verbs.first { $0.manual.name == name }
    }
}
