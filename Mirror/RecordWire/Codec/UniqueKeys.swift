/// Refuses a body in which one object names a member twice: the reader would keep one of the two
/// values and lose the other without a word. Two spellings of one letter are one name.
struct UniqueKeys {
    private let text: JSONText
    private static let fewKeys = 12

    /// Cost: one pass over the nodes.
    static func check(_ text: JSONText) throws(RecordError) {
        let keys = UniqueKeys(text: text)
        for index in text.nodes.indices where text.nodes[index].kind == .object {
            guard text.nodes[index].length > 1, let key = keys.firstRepeated(in: index) else {
                continue
            }
            throw RecordError(
                .badRequest,
                "The body names \(key) twice in one object, by the same letters; name it once.")
        }
    }

    private func firstRepeated(in object: Int) -> String? {
        let members = JSONMembers(of: JSONValue(text: text, index: object))
        let isOdd = members.contains { $0.key.isForeign || $0.key.hasEscapes }
        guard isOdd || text.nodes[object].length > Self.fewKeys else {
            return firstRepeatedOfFew(members)
        }
        var seen: Set<String> = []
        return members.lazy.map(\.name).first { !seen.insert($0).inserted }
    }

    /// Few names are compared one by one, which is quicker than a set.
    private func firstRepeatedOfFew(_ members: JSONMembers) -> String? {
        var rest = members
        while let member = rest.next() {
            let name = text.bytes(of: member.key)
            for other in rest
            where other.key.length == member.key.length
                && text.bytes(of: other.key).elementsEqual(name)
            {
                return member.name
            }
        }
        return nil
    }
}
