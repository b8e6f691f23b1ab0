internal import Foundation
internal import ObjectModel
internal import Predicates

/// What a written model does not say any more, or says in a way that only Diptych reads.
struct ConversionLoss {
    private(set) var notes: [String] = []

    /// Compares a model with what is read back from the file it was written to.
    init(of model: NSManagedObjectModel, writtenAs again: NSManagedObjectModel) {
        let difference = ModelDifference(from: model, to: again)
        for change in difference.changes where change.code != "validation" {
            let place = change.entity + (change.property.map { ".\($0)" } ?? "")
            notes.append("\(place): \(change.detail)")
        }
        for entity in model.entities.sorted(by: { $0.matchName < $1.matchName }) {
            guard let twin = again.entitiesByName[entity.matchName] else { continue }
            for property in entity.declaredProperties.sorted(by: { $0.name < $1.name }) {
                add(property, twin.propertiesByName[property.name], "\(entity.matchName).")
            }
        }
        for (name, template) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
            guard let kept = again.fetchRequestTemplates[name] else {
                notes.append("the stored request \(name)")
                continue
            }
            if kept.sortKeys != template.sortKeys {
                notes.append("the stored request \(name): the order of its results")
            }
        }
        notes += model.unreadParts
        if again.versionIdentifiers.count < model.versionIdentifiers.count {
            notes.append("more than one version identifier")
        }
    }

    /// Rules with their sentences, and the order of a fetched property's results.
    private mutating func add(
        _ property: NSPropertyDescription, _ twin: NSPropertyDescription?, _ owner: String
    ) {
        let kept = (twin as? NSAttributeDescription)?.validation.rules ?? []
        let rules = (property as? NSAttributeDescription)?.validation.rules ?? []
        for rule in rules where !kept.contains(rule) {
            let sentence = rule.warning.map { ", and its sentence “\($0)”" } ?? ""
            notes.append("\(owner)\(property.name): the rule \(rule.predicate)\(sentence)")
        }
        let template = (property as? NSFetchedPropertyDescription)?.template
        let again = (twin as? NSFetchedPropertyDescription)?.template
        if template?.sortKeys != again?.sortKeys {
            notes.append("\(owner)\(property.name): the order of its results")
        }
    }

    /// The predicates that a compiled model keeps as texts of Diptych's own, since their form in
    /// Apple's archives is not known: Apple's frameworks pass over them.
    static func unarchivable(in model: NSManagedObjectModel) -> [String] {
        var builder = KeyedArchiveBuilder()
        let archiver = PredicateArchiver()
        func isKnown(_ text: String?) -> Bool {
            guard let text, !text.isEmpty else { return true }
            return archiver.archive(predicate: text, into: &builder) != nil
        }
        var found: [String] = []
        for entity in model.entities.sorted(by: { $0.matchName < $1.matchName }) {
            for index in entity.indexes where !isKnown(index.partialIndexPredicateText) {
                found.append("\(entity.matchName), index \(index.name)")
            }
            for property in entity.declaredProperties.sorted(by: { $0.name < $1.name }) {
                let template = (property as? NSFetchedPropertyDescription)?.template
                let rules = (property as? NSAttributeDescription)?.validation.rules ?? []
                let texts = [template?.predicateText] + rules.map(\.predicate)
                if !texts.allSatisfy(isKnown) {
                    found.append("\(entity.matchName).\(property.name)")
                }
            }
        }
        for (name, template) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key })
        where !isKnown(template.predicateText) {
            found.append("the stored request \(name)")
        }
        return found
    }
}
