/// The types of the libraries that `@NSManaged` members may have, as they are found on Linux.
enum LibraryTypes {
    /// The type a name leads to; `module` is nil where none is written.
    static func type(named name: String, in module: String?) -> ResolvedType? {
        for library in libraries where module == nil || library.spokenNames.contains(module ?? "") {
            if let type = library.types[name] { return type }
        }
        return nil
    }

    /// Whether `name` names one of the libraries rather than a type.
    static func isModule(_ name: String) -> Bool {
        libraries.contains { $0.spokenNames.contains(name) }
    }

    /// How many arguments the generic type takes; nil for one that is not generic.
    static func argumentCount(of type: ResolvedType) -> Int? {
        switch type {
        case .standard("a"), .standard("h"), .standard("q"): 1
        case .standard("D"): 2
        default: nil
        }
    }

    private struct Library: Sendable {
        /// The names by which sources call the module.
        var spokenNames: Set<String>
        var types: [String: ResolvedType]
    }

    private static let libraries = [swift, essentials, foundation, coreData, model]

    private static func named(
        _ names: [String], _ kind: TypeDeclaration.Kind, of module: String
    ) -> [String: ResolvedType] {
        let pairs = names.map { name in
            let step = NominalType.Component(name: name, kind: kind)
            let nominal = NominalType(module: module, path: [step])
            return (name, kind == .protocol ? .existential(nominal) : ResolvedType.nominal(nominal))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private static let swift: Library = {
        let letters: [String: Character] = [
            "Int": "i", "UInt": "u", "Bool": "b", "Double": "d", "Float": "f", "String": "S",
            "Substring": "s", "Character": "J", "Array": "a", "Dictionary": "D", "Set": "h",
            "Optional": "q",
        ]
        var types = letters.mapValues { ResolvedType.standard($0) }
        types["Any"] = .any
        types["AnyObject"] = .anyObject
        let widths = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
        types.merge(named(widths, .structure, of: "Swift")) { $1 }
        return Library(spokenNames: ["Swift"], types: types)
    }()

    private static let essentials = Library(
        spokenNames: ["Foundation", "FoundationEssentials"],
        types: named(
            [
                "Date", "Data", "UUID", "URL", "Decimal", "Locale", "TimeZone", "Calendar",
                "DateComponents", "DateInterval", "IndexPath", "AttributedString", "URLComponents",
            ], .structure, of: "FoundationEssentials"))

    private static let foundation: Library = {
        var types = named(
            [
                "NSObject", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet",
                "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSNumber",
                "NSDecimalNumber", "NSString", "NSMutableString", "NSDate", "NSData",
                "NSMutableData", "NSURL", "NSUUID", "NSIndexSet", "NSAttributedString",
                "NSMutableAttributedString", "NSValue", "NSNull", "NSIndexPath", "NSLocale",
                "NSTimeZone",
            ], .reference, of: "Foundation")
        let values = [
            "IndexSet", "CharacterSet", "CGPoint", "CGSize", "CGRect", "CGFloat",
        ]
        types.merge(named(values, .structure, of: "Foundation")) { $1 }
        let protocols = ["NSCopying", "NSCoding", "NSSecureCoding", "NSObjectProtocol"]
        types.merge(named(protocols, .protocol, of: "Foundation")) { $1 }
        types["TimeInterval"] = .standard("d")
        return Library(spokenNames: ["Foundation"], types: types)
    }()

    private static let coreData = Library(
        spokenNames: ["CoreData", "Persistence"],
        types: named(
            ["NSManagedObject", "NSManagedObjectID", "NSManagedObjectContext"], .reference,
            of: "Persistence")
    )

    private static let model = Library(
        spokenNames: ["CoreData", "ObjectModel"],
        types: named(["NSEntityDescription"], .reference, of: "ObjectModel"))
}
