//! Reasons against keeping a result, apart from the statement's text. Each part of the engine that keeps results has its own list.

/// Defines reasons by their names and explanations: the enum `Own` of these, and the enum `Reason`, which is one of `Own` or a refusal.
#[macro_export]
macro_rules! reasons {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// A reason in a session, a table or a response against keeping a result.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Own { $($variant,)* }

        const OWN: &[(&str, &str)] = &[$(($name, $text),)*];

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            Own(Own),
            Text($crate::Refusal),
        }

        impl From<Own> for Reason {
            fn from(own: Own) -> Self {
                Reason::Own(own)
            }
        }

        impl Reason {
            const COUNT: usize = OWN.len() + $crate::Refusal::ALL.len();

            /// The index of the reason, which is less than `COUNT`.
            pub fn index(self) -> usize {
                match self {
                    Reason::Own(own) => own as usize,
                    Reason::Text(refusal) => OWN.len() + refusal as usize,
                }
            }

            /// The name and explanation of each reason, in the order of their indices.
            fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
                let of_texts = $crate::Refusal::ALL.iter().map(|refusal| (refusal.name(), refusal.explain()));
                OWN.iter().copied().chain(of_texts)
            }
        }
    };
}
