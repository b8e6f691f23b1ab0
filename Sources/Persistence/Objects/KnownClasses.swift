internal import Foundation
internal import ObjectModel
internal import Platform

/// Finds the class of an entity and the entity of a class.
///
/// Models name classes without their module, and the runtime finds classes only with it. So the
/// modules of all classes that were ever seen are tried, besides the program's own.
enum KnownClasses {
    private struct State {
        var classes: [String: NSManagedObject.Type] = [:]
        var modules: [String] = []
        /// Names without a module, and of nested classes, that no class has of all that can be
        /// found at present: to search all images for one takes as long as making some dozens of
        /// objects.
        var missing: Set<String> = []
        /// Grows whenever more can be found.
        var generation = 0
        var models: [WeakModel] = []
        var placeholders: [String: NSEntityDescription] = [:]
    }

    private struct WeakModel {
        weak var model: NSManagedObjectModel?
    }

    private static let state = Lock(State())

    /// Notes a class, so that entities naming it get it and its module is searched.
    static func note(_ type: NSManagedObject.Type) {
        guard type != NSManagedObject.self else { return }
        let full = String(reflecting: type)
        let parts = full.split(separator: ".", maxSplits: 1)
        let short = String(full.split(separator: ".").last ?? "")
        state.withLock { state in
            let isFresh = state.classes[full] == nil
            if isFresh {
                state.classes[full] = type
                state.classes[short] = type
                if parts.count == 2 { state.classes[".\(parts[1])"] = type }
            }
            let bringsModule = parts.count == 2 && !state.modules.contains(String(parts[0]))
            if bringsModule { state.modules.append(String(parts[0])) }
            guard isFresh || bringsModule else { return }
            state.missing = []
            state.generation += 1
        }
    }

    /// Notes a model a coordinator uses.
    static func note(_ model: NSManagedObjectModel) {
        // A model may end meanwhile, and what an app keeps in it may ask for classes then: those
        // that were looked at go outside of the lock.
        let others = state.withLock { state in
            let others = state.models.compactMap(\.model)
            state.models.removeAll { $0.model == nil || $0.model === model }
            state.models.append(WeakModel(model: model))
            return others
        }
        _ = others
    }

    /// The class objects of `entity` are made of: NSManagedObject where its own class is not found.
    static func type(of entity: NSEntityDescription) -> NSManagedObject.Type {
        let name: String = entity.managedObjectClassName
        let short = name.hasPrefix(".") ? String(name.dropFirst()) : name
        guard short != "NSManagedObject", !short.isEmpty else { return NSManagedObject.self }
        let (found, isMissing, generation) = state.withLock {
            ($0.classes[name] ?? $0.classes[short], $0.missing.contains(short), $0.generation)
        }
        if let found { return found }
        if isMissing { return NSManagedObject.self }
        guard let type = any(named: short) as? NSManagedObject.Type else {
            // A name with its module may be that of a class that is loaded later.
            state.withLock { state in
                let hasModule = short.split(separator: ".").count == 2
                guard state.generation == generation, !hasModule else { return }
                state.missing.insert(short)
            }
            return NSManagedObject.self
        }
        note(type)
        state.withLock { $0.classes[short] = type }
        return type
    }

    /// The class of a name, with its module or in one of those seen so far.
    static func any(named name: String) -> AnyClass? {
        let own = Bundle.main.executableURL?.lastPathComponent ?? ""
        let modules = state.withLock { $0.modules } + [own]
        let candidates = [name] + modules.map { "\($0).\(name)" }
        return candidates.lazy.filter { $0.split(separator: ".").count == 2 }
            .compactMap { NSClassFromString($0) }.first ?? nested(named: name)
    }

    /// The class of a name with its module and one or two types that it is declared in; nil also
    /// where one of its words has other letters than those of ASCII. Cost: a search for each kind
    /// of type that these may be.
    private static func nested(named name: String) -> AnyClass? {
        let words = name.split(separator: ".")
        // Other letters are written otherwise in such names, and digits first would be counts.
        let arePlain = words.allSatisfy { $0.first?.isNumber == false && $0.allSatisfy(\.isASCII) }
        guard 3...4 ~= words.count, arePlain, let last = words.last else { return nil }
        func mangled(_ word: Substring) -> String { "\(word.utf8.count)\(word)" }
        let outer = words[1..<(words.count - 1)].reduce([mangled(words[0])]) { names, word in
            names.flatMap { name in ["C", "V", "O"].map { name + mangled(word) + $0 } }
        }
        return outer.lazy.compactMap { _typeByName($0 + mangled(last) + "C") as? AnyClass }.first
    }

    /// The models that coordinators use or used.
    static var models: [NSManagedObjectModel] { state.withLock { $0.models.compactMap(\.model) } }

    static func entity(
        of type: NSManagedObject.Type, in model: NSManagedObjectModel?
    ) -> NSEntityDescription? {
        note(type)
        let full = String(reflecting: type)
        let parts = full.split(separator: ".")
        let short = String(parts.last ?? "")
        var names: Set<String> = [full, short, ".\(short)"]
        if parts.count > 2 { names.insert(".\(parts.dropFirst().joined(separator: "."))") }
        return model?.entities.first { names.contains($0.managedObjectClassName) }
    }

    /// The entity in the newest loaded model that names `type`; nil where none does.
    static func knownEntity(of type: NSManagedObject.Type) -> NSEntityDescription? {
        let models = state.withLock { $0.models.compactMap(\.model) }
        for model in models.reversed() {
            if let entity = entity(of: type, in: model) { return entity }
        }
        return nil
    }

    /// The entity in the newest loaded model that names `type`; where none does, one of no model,
    /// always the same for a class.
    static func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
        if let known = knownEntity(of: type) { return known }
        let name = shortName(of: type)
        return state.withLock { state in
            if let made = state.placeholders[name] { return made }
            let made = NSEntityDescription()
            made.name = name
            made.managedObjectClassName = name
            state.placeholders[name] = made
            return made
        }
    }

    /// The class's name without its module.
    static func shortName(of type: NSManagedObject.Type) -> String {
        String(String(reflecting: type).split(separator: ".").last ?? "")
    }
}

extension NSManagedObject {
    /// Makes classes known by name before an object of theirs was made or asked for.
    ///
    /// Needed only where a model names a class of a module of which the program uses nothing before
    /// it fetches.
    public static func register(_ classes: [NSManagedObject.Type]) {
        for type in classes { KnownClasses.note(type) }
    }
}
