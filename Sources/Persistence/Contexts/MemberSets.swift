internal import Foundation

extension Set where Element: NSObject {
    /// The set of `members`. `init(_:)` hands each member back when it is in, which costs as much
    /// again where they are many.
    init(members: [Element]) {
        self.init(minimumCapacity: members.count)
        for index in members.indices { update(with: members[index]) }
    }
}
