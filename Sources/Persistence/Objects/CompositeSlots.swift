internal import Foundation
internal import ObjectModel
internal import Stores

/// Where the elements of a composite attribute stand, by their names. An element may be a
/// composite itself: its value is a dictionary in the outer one's.
struct CompositeSlots: Hashable {
    private enum Element: Hashable {
        case slot(Int)
        case composite(CompositeSlots)
    }

    private let elements: [String: Element]
    /// The slots of all elements, those of inner composites, too, in order.
    let all: [Int]

    /// `path` leads to the composite in the names of the layout's slots.
    init(of composite: NSCompositeAttributeDescription, at path: String, in layout: EntityLayout) {
        var elements: [String: Element] = [:]
        var all: [Int] = []
        for element in composite.elements {
            let place = "\(path).\(element.name)"
            if let inner = element as? NSCompositeAttributeDescription {
                let slots = CompositeSlots(of: inner, at: place, in: layout)
                elements[element.name] = .composite(slots)
                all += slots.all
            } else if let slot = layout.attributeSlot(place) {
                elements[element.name] = .slot(slot)
                all.append(slot)
            }
        }
        self.elements = elements
        self.all = all.sorted()
    }

    /// The inner composites, by their paths.
    func composites(below path: String) -> [(path: String, slots: CompositeSlots)] {
        elements.flatMap { name, element -> [(path: String, slots: CompositeSlots)] in
            guard case .composite(let inner) = element else { return [] }
            return [("\(path).\(name)", inner)] + inner.composites(below: "\(path).\(name)")
        }
    }

    /// The dictionary of what `read` gives for the slots; nil where all are empty.
    func dictionary(_ read: (Int) -> Any?) -> [String: Any]? {
        let values = elements.compactMapValues { element -> Any? in
            switch element {
            case .slot(let slot): read(slot)
            case .composite(let inner): inner.dictionary(read)
            }
        }
        return values.isEmpty ? nil : values
    }

    /// What a value gives each slot, nil for nothing; nil for one that is no dictionary of these
    /// elements, since parts of it would be lost.
    func spread(_ value: Any?) -> [(slot: Int, value: Any?)]? {
        guard let value, !(value is NSNull) else { return all.map { ($0, nil) } }
        guard let given = value as? [String: Any],
            given.keys.allSatisfy({ elements[$0] != nil })
        else { return nil }
        var values: [(slot: Int, value: Any?)] = []
        for (name, element) in elements {
            switch element {
            case .slot(let slot): values.append((slot, given[name]))
            case .composite(let inner):
                guard let spread = inner.spread(given[name]) else { return nil }
                values += spread
            }
        }
        return values
    }
}
