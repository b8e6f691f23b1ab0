internal import Stores

/// Who edited which property of an object after it was made, and who deleted it: a deletion meets
/// an edit only where two devices were at work.
struct AuthorMemory {
    /// A deletion, and what its device had seen of the object; nil for what its version does not
    /// know.
    struct Deletion {
        let device: String
        let seen: [AttributeValue?]
    }

    /// Stands for the mirrors of all devices.
    static let anyMirror = "the mirror"

    private(set) var deletions: [String: [Deletion]] = [:]
    private var editors: [EditMemory.Property: Set<String>] = [:]

    mutating func edited(_ name: String, _ property: String, by device: String) {
        editors[EditMemory.Property(recordName: name, name: property), default: []].insert(device)
    }

    mutating func deleted(_ name: String, _ deletion: Deletion) {
        deletions[name, default: []].append(deletion)
    }

    /// Whether a device edited the property while another deleted the object, as far as can be
    /// told.
    func mayMeet(_ property: EditMemory.Property, deletionsOf names: [String]) -> Bool {
        let deleters = Set(names.flatMap { deletions[$0] ?? [] }.map(\.device))
        return meets(editors[property] ?? [], deleters)
    }

    /// The same of any property of the object.
    func mayMeetDeletion(_ name: String) -> Bool {
        let deleters = Set((deletions[name] ?? []).map(\.device))
        return editors.contains { $0.key.recordName == name && meets($0.value, deleters) }
    }

    private func meets(_ editors: Set<String>, _ deleters: Set<String>) -> Bool {
        editors.contains { !deleters.isEmpty && deleters != [$0] }
    }
}
