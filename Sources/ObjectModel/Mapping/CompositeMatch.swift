// Elements of composites from one version to the next, by the rules for properties.
extension NSCompositeAttributeDescription {
    /// The element of an older version's composite that one of this composite's elements was; nil
    /// for a new one.
    package func origin(
        of element: NSAttributeDescription, in former: NSCompositeAttributeDescription
    ) -> NSAttributeDescription? {
        FormerThings(former.elements, of: elements).origin(of: element)
    }

    /// The value of this composite that comes of a value of an older version's: by the elements'
    /// names now, without those that are gone. Elements that are new, and those that need a value
    /// and have none, get their default values. Nil where nothing is left.
    package func value(
        of value: [String: Any]?, in former: NSCompositeAttributeDescription
    ) -> [String: Any]? {
        var values: [String: Any] = [:]
        for element in elements {
            let origin = origin(of: element, in: former)
            let found = origin.flatMap { value?[$0.name] }
            if let inner = element as? NSCompositeAttributeDescription {
                let before = origin as? NSCompositeAttributeDescription
                values[element.name] = inner.value(
                    of: found as? [String: Any], in: before ?? NSCompositeAttributeDescription())
            } else if let found {
                values[element.name] = found
            } else if origin == nil || !element.isOptional {
                values[element.name] = element.defaultValue
            }
        }
        return values.isEmpty ? nil : values
    }

    /// The same for the names of an element and of those that it lies in, outermost first.
    fileprivate func formerPath(
        of path: ArraySlice<String>, in former: NSCompositeAttributeDescription
    ) -> [String]? {
        guard let element = elements.first(where: { $0.name == path.first }),
            let origin = origin(of: element, in: former)
        else { return nil }
        guard path.count > 1 else { return [origin.name] }
        guard let inner = element as? NSCompositeAttributeDescription,
            let before = origin as? NSCompositeAttributeDescription
        else { return nil }
        return inner.formerPath(of: path.dropFirst(), in: before).map { [origin.name] + $0 }
    }

    fileprivate func presentPath(
        ofFormer path: ArraySlice<String>, in former: NSCompositeAttributeDescription
    ) -> [String]? {
        guard
            let element = elements.first(where: {
                origin(of: $0, in: former).map { $0.name == path.first } ?? false
            })
        else { return nil }
        guard path.count > 1 else { return [element.name] }
        guard let inner = element as? NSCompositeAttributeDescription,
            let before = origin(of: inner, in: former) as? NSCompositeAttributeDescription
        else { return nil }
        return inner.presentPath(ofFormer: path.dropFirst(), in: before).map {
            [element.name] + $0
        }
    }
}

extension PropertyMatch<NSAttributeDescription> {
    /// The names in the older version that lead to what `path` leads to below this attribute, an
    /// element of a composite; nil for a new one. Nothing leads to the attribute itself.
    package func formerPath(of path: some Sequence<String>) -> [String]? {
        let path = Array(path)
        guard !path.isEmpty else { return source.map { _ in [] } }
        guard let present = destination as? NSCompositeAttributeDescription,
            let former = source as? NSCompositeAttributeDescription
        else { return nil }
        return present.formerPath(of: path[...], in: former)
    }

    /// The names of now for those of the older version; nil for an element that is gone.
    package func presentPath(ofFormer path: some Sequence<String>) -> [String]? {
        let path = Array(path)
        guard !path.isEmpty else { return [] }
        guard let present = destination as? NSCompositeAttributeDescription,
            let former = source as? NSCompositeAttributeDescription
        else { return nil }
        return present.presentPath(ofFormer: path[...], in: former)
    }
}
