internal import Foundation

extension Set where Element: NSObject {
    /// The set of a list's objects. Quicker than adding one after the other: the list is moved into
    /// the set's memory and put in order there.
    init(list: [Element]) {
        guard !list.isEmpty else {
            self.init()
            return
        }
        self.init(_unsafeUninitializedCapacity: list.count, allowingDuplicates: true) { memory in
            _ = memory.initialize(fromContentsOf: list)
            return list.count
        }
    }
}
