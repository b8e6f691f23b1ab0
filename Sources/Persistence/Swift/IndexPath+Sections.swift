public import Foundation

// Apple's user interface frameworks give index paths a section and a row or item.
extension IndexPath {
    /// The path of a row in a section.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The path of an item in a section.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The section. Traps for an empty path, as Apple's does.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The row in the section. Traps for a path of less than two places, as Apple's does.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The item in the section. Traps for a path of less than two places, as Apple's does.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
