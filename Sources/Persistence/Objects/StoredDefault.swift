package import ObjectModel
package import Stores

extension NSAttributeDescription {
    /// The default value as stores keep it; null where there is none that fits the type.
    package var storedDefault: AttributeValue {
        AttributeCoding.accept(defaultValue, for: self) ?? .null
    }
}
