/// What two versions of a model may name differently.
protocol Renamable: AnyObject {
    var presentName: String { get }
    var givenRenamingIdentifier: String? { get }
}

extension NSEntityDescription: Renamable {
    var presentName: String { name ?? "" }
}

extension NSPropertyDescription: Renamable {
    var presentName: String { name }
}

/// Finds what the things of one version were in the version before.
///
/// A renaming identifier says it: the identifier of the older thing, or its name. Without one the
/// name does, and an older thing's identifier only where nothing has the name of either: a version
/// that no longer gives the identifier has not renamed anything again.
struct FormerThings<Thing: Renamable> {
    private var byIdentifier: [String: Thing] = [:]
    private var byName: [String: Thing] = [:]
    /// What an identifier of the newer version asks for, and who gives it.
    private var takers: [ObjectIdentifier: Thing] = [:]
    private var keptNames: Set<String> = []

    init(_ former: [Thing], of present: [Thing]) {
        for thing in former {
            let identifier = thing.givenRenamingIdentifier ?? thing.presentName
            if byIdentifier[identifier] == nil { byIdentifier[identifier] = thing }
            if byName[thing.presentName] == nil { byName[thing.presentName] = thing }
        }
        for thing in present {
            guard let identifier = Self.identifier(of: thing) else {
                keptNames.insert(thing.presentName)
                continue
            }
            guard let found = find(identifier) else { continue }
            if takers[ObjectIdentifier(found)] == nil { takers[ObjectIdentifier(found)] = thing }
        }
    }

    /// What `thing` was; nil where it is new.
    func origin(of thing: Thing) -> Thing? {
        if let found = Self.identifier(of: thing).flatMap(find) { return found }
        let name = thing.presentName
        if let named = byName[name] { return isFree(named, for: thing) ? named : nil }
        guard let before = byIdentifier[name], isFree(before, for: thing),
            !keptNames.contains(before.presentName)
        else { return nil }
        return before
    }

    private func find(_ identifier: String) -> Thing? {
        byIdentifier[identifier] ?? byName[identifier]
    }

    private func isFree(_ former: Thing, for thing: Thing) -> Bool {
        takers[ObjectIdentifier(former)].map { $0 === thing } ?? true
    }

    /// One that says more than the name.
    private static func identifier(of thing: Thing) -> String? {
        thing.givenRenamingIdentifier.flatMap { $0 == thing.presentName ? nil : $0 }
    }
}
