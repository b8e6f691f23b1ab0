// What an archive of Xcode 3 holds and the model made of it does not.
extension LegacyModelReader {
    /// Stored requests and those of fetched properties, whose form no real file has shown, and
    /// dates that meant the day of compiling: in words, for people.
    func unreadParts(of package: ArchivedObject) throws -> [String] {
        try LegacyObject.named(package, in: "Classes").flatMap { name, entity -> [String] in
            guard entity.object.className == "XDPMEntity" else {
                return ["\(name), a \(entity.object.className.prefix(80))"]
            }
            let properties = try LegacyObject.named(entity.object, in: "OwnedAttributes")
            return properties.flatMap { property, held in
                Self.unreadParts(of: held).map { "\(name).\(property): \($0)" }
            }
        }
    }

    private static func unreadParts(of property: LegacyObject) -> [String] {
        if property.object.className == "XDPMFetchedProperty" { return ["its request"] }
        guard property.object.className == "XDPMAttribute",
            property["XD_PAttK_attributeType"]?.integer
                == Int64(NSAttributeType.dateAttributeType.rawValue)
        else { return [] }
        return ["defaultValueAsString", "minValueString", "maxValueString"].compactMap { key in
            property.text("XD_PAttK_" + key)
                .flatMap { LegacyDate.seconds($0) == nil ? "the date “\($0.prefix(80))”" : nil }
        }
    }
}
